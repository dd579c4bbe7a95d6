// Package estimate computes what an analyst may believe of statistics whose noisy values were released: the posterior
// given the answers, the law of their noise, public facts, and a model of the data [Seeman, Reimherr & Slavkovic,
// "Formal Privacy for Partially Private Data", section 3.2 and appendix B].
//
// It is post-processing, and its types say so: a Problem holds released values, public numbers and a public model.
// There is no way for a statistic of protected rows to come in, and nothing is drawn: equal problems have equal
// solutions. The package imports nothing of the product.
//
// With x the statistics, θ the values of the secrets, and u what noise moves several values of one answer along a line
// by,
//
//	x   = μ(θ) + e,         e normal with the covariance C(θ), θ uniform on the range of each secret
//	y_i = x_k(i) + Σ_d a_id u_d + z_i,    u_d and z_i Laplace or normal with known scales
//	Σ_k∈A x_k = t_A         public facts
//
// What is not normal in it is a factor of its own: one for each θ, each Laplace u and each Laplace z. All of these
// factors are log-concave. Given them everything is linear and normal, so that where there are none the posterior is
// exact. Otherwise expectation propagation [Minka 2001; Rasmussen & Williams, "Gaussian Processes for Machine
// Learning", algorithm 3.5] takes a normal factor for each in the context of all others. For the law of one x_k the two
// factors that matter most to it are then put back as they are and integrated numerically: with one secret, one answer
// and one line of shared noise nothing is approximated but
//
//   - μ(θ), by its secant over one standard deviation around the posterior mean of θ, and a normal of what that misses;
//   - C(θ), by that at the posterior mean of θ;
//   - the few normal laws by which the two factors' integral is summed up (see mixture).
//
// Several secrets move x each by its own path from the reference's mean, independently a priori.
package estimate
