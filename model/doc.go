// Package model gives f_θ, the distribution of a query vector F under each value θ of a secret, from a reference: rows
// with the protected table's columns that may be known to everybody.
//
// For a secret proportion p (a predicate holds for a share p of the n rows) one scan of the reference, split by the
// predicate, gives the class means and second moments of F's row functions, and from these the mean, the covariance and
// the slope of F's mean in p follow in closed form for every p at once; averages by the delta method. The proportion is
// a property of the dataset: exactly pn rows have it.
//
// Percentiles and aggregates of distinct values are no functions of sums: Sampled bounds how far they are apart on
// coupled datasets, from the distribution of their argument in the classes.
//
// What is public of a table (Public) conditions the model (Given). Shapes tells how far F is from normal.
//
// The package never reads protected rows, does not decide which pairs are secret (sensitivity does), and does not widen
// its estimates by their sampling error, unless it is asked to; what rows that the reference does not show could change
// is in every Shift (sensitivity.Unseen).
//
// The symbols: n rows; h the row functions (terms); μ = E h of one row. A component of F is a smooth function φ of a
// few sums S = Σ h, E S = n μ. [Chen & Ohrimenko, sections 2 and 4.]
package model
