// Package channel makes the laws by which a column's true values become the values that are shown, row by row.
//
// A channel is a matrix of probabilities P(y|x): a row that has the value x shows y with that chance, independently of
// all other rows. There are two kinds. An obfuscating channel keeps what a shown value tells of its own row within ε in
// pointwise maximal leakage, whatever the column's law within a distance β of an estimate (Grosse, Saeidian, Oechtering
// & Skoglund, "Privacy Mechanism Design based on Empirical Distributions"). A transporting channel gives the shown
// column one and the same law in each of several classes, so that the column by itself tells no row's class, and moves
// values as little as that allows (Kawamoto & Murakami, "Local Distribution Obfuscation via Probability Coupling").
//
// The package knows no SQL, draws nothing and opens no database: the probabilities are integers, and whoever draws
// compares them with uniform integers, so that what is drawn has exactly the law that was judged here.
package channel
