// Package twin is the law of twins: how the secrets of a table are blurred, once, and how many rows of each class a
// copy of the table may show. It opens no database and reads no SQL; who builds a twin asks it for numbers.
//
// A class is what a row is for the secrets: the predicate is true, or false, or NULL; for several secrets a
// combination. A table D of n rows has N_c of class c. The law is
//
//	Ñ ~ K(N)      noisy counts of the classes, Σ Ñ_c = n          Draw
//	m = S(Ñ)      how many rows of each class are taken            Take
//	m_c rows of class c, uniformly at random, without replacement  (the builder's)
//	each of them ⌊Ñ_c/m_c⌋ or ⌈Ñ_c/m_c⌉ times, Ñ_c in all          Copies
//
// Theorem. Let K be (ε,δ)-hiding for the pairs that the policy protects, and m_c ≤ N_c whatever Ñ is, for every value
// that occurs in a pair. Let as many rows of each class as both values of a pair allow, drawn at random, have one joint
// law under both (exchangeable). Then (Ñ, the rows taken) is (ε,δ)-indistinguishable for every pair, and so is
// everything that is computed from it, by any analysts, in any number of statements.
//
// Proof. Given Ñ = ν the rows taken are S_c(ν) random rows of each class; wherever both values can bring forth ν, their
// joint law is the same under both. So the output is one random function of Ñ, and K hides which value Ñ is of. Where
// only one value can bring forth ν, the probability is part of K's δ. ∎
//
// What is drawn is drawn in integers: every weight of K is x^j/Z for an integer j and x = e^(-ε/k) with a rational ε,
// the next below the policy's, and package mechanism's sampler draws such weights exactly. Law gives the same law as
// polynomials in x, for tests. docs/twin.md has the proofs of the single mechanisms.
package twin
