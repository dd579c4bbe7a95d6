// Package mechanism turns a statistic F in R^m, computed on protected rows, into a Release by adding noise.
//
// Calibrate chooses the noise from what is public: how far the mean of F moves between the values of each secret
// (sensitivity.Shift), the lattice and unit of every component, and the budget. Release draws it. Statistics go in and
// only a Release comes out; nothing else in the program can read Statistics.
//
// # Assumptions
//
// Losses, which add up over releases, rest on translation: for each pair of a secret, the distributions of F are
// translations of each other by the difference of their means [Chen & Ohrimenko, "Protecting Global Properties of
// Datasets with Distribution Privacy Mechanisms", section 4]. Under it F and F' of a pair can be coupled so that F' = F
// + d, d that difference, and what follows is an argument about d alone; the randomness of the data is not counted as
// noise.
//
// A Shift that is Coupled needs none of that: coupled datasets are within its Beside, but for its Failure.
//
// Certificates, which speak of one release, need none of that where the request has f_θ and it is normal (gaussian):
// they bound δ for the two distributions of F as they are, of unequal covariances. Without f_θ they rest on translation
// too.
//
// # Grid
//
// Component k lives on a grid of step g_k = 2^e_k, about 2^-28 of its own noise scale. F_k is rounded to the grid,
// exact integer noise is added, and the sum is published rounded half-even to a power of ten. Grid, scales and decimals
// depend on the calibration only, never on the value [Mironov, "On Significance of the Least Significant Bits for
// Differential Privacy", 2012; Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential Privacy", 2020]. A
// noise scale above 2^28 has a grid coarser than 1; the published integers are then multiples of it.
//
// What the rounding costs, in grid steps: rounding F and F' separately moves their difference by at most 1; noise v·y
// along a direction, rounded before and after y is shifted, by at most 1; shifting y by whole steps only, by at most ½.
// Every loss is computed with shifts enlarged by slack = 3 in each component, whose remainder also covers the error of
// the floating-point arithmetic of the calibration itself. Shared Gaussian noise adds to it; see Noise.loss.
//
// # Limits
//
// The samplers run a random number of steps, so the time of a Release depends on the noise drawn (not on the data).
// Package mechanism knows no SQL, no protocol and no ledger, and does not compose releases: privacy.Loss does.
package mechanism
