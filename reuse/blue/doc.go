// Package blue computes best linear unbiased estimates of sums over cells of a grid from noisy sums over other cells:
// Aitken's generalised least squares [Rao, "Linear Statistical Inference and Its Applications", 1973, section 4a].
//
// A value that was released is y_k = Σ_{p in k} x_p + z_k, p over the points of a grid, x unknown and z noise of known
// covariance Σ, so y = H'x + z. What is wanted is h'x for an indicator h. With M = H Σ⁻¹ H' it has an unbiased estimate
// iff h is in the range of M; then the best is w'y with
//
//	w = Σ⁻¹ H' M⁺ h,        Hw = h,        variance w'Σw.
//
// Weights depend on which points the values are of and on Σ alone: never on a value.
package blue
