// Package rowsum bounds what a sum over independent rows tells of how many of them are of a class, given normal noise:
// by the sum's exact law, computed from its characteristic function, with everything that the computation leaves out
// added to the bound. Rows of a class are independent draws from the class's rows in a reference; nothing is taken for
// normal but the noise. The theorem and its proof are in docs/theory/exact.md.
//
// It knows one value alone, a sum: no averages, no vectors, no secrets but the number of rows of one of two classes. It
// draws no noise, and reads no rows of a protected table.
package rowsum
