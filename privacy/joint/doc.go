// Package joint keeps the joint Gaussian account of a dataset: what all releases together tell about each secret, where
// the randomness of the rows themselves is counted as noise. That randomness may be counted once only, so the account
// keeps the stacked vector of everything that was ever released, with the covariances between any two of its components
// from the reference.
//
// A release is F + Z. The components of F are sums over the n rows of the protected table of terms h; Z has independent
// normal noise of known variance in each. For two values of a secret, with class shares p and q, couple the two tables
// so that n·min(p_c,q_c) rows of class c are the same. Their sum has covariance
//
//	Sigma0 = n Σ_c min(p_c,q_c) C_c,        C_c the covariance of the terms within class c
//
// under both values, and what differs moves the mean by Delta = n Σ_c (p_c-q_c) m_c. All releases stacked are a
// Gaussian shift of squared size Delta'(Sigma0 + diag N)⁻¹ Delta, in whatever order and in view of whatever answers
// they were asked for. docs/accounting.md has the theorems, their assumptions and their proofs.
//
// It is mathematics: it knows no SQL, no policy and no ledger, and it never sees a protected row.
package joint
