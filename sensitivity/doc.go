// Package sensitivity says how far the distribution of F can move between the two values of a secret pair, and how well
// a noise hides that: from f_θ (package model) and Ψ (the policy's spans of values) to the Shift that mechanisms are
// calibrated to, and to the Certificate of what they release.
//
// Experiment bounds δ(ε) for one pair of distributions, Certify for every pair of a Family's span, ScaleCost for
// Laplace noise alone; Probe is for searches. docs/theory has the proofs.
//
// The package knows neither data nor how noise is drawn.
package sensitivity
