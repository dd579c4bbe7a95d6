// Package published holds mechanisms for distribution and attribute privacy exactly as their papers state them: ideal,
// real-valued noise, c = √(2 ln(1.25/δ)) in place of exact calibration, covariances taken to be equal, noise that may
// leave directions bare. Experiments and tests compare package mechanism with them.
//
// They are not safe to release with: the c is proved for ε < 1 only, covariances of real data differ, and noise of less
// than full rank falls to whoever knows that counts are integers. Nothing here reads data or draws noise, and no
// package of the product imports this one.
package published
