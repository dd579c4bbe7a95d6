// Package aggregate has the aggregates that are smooth functions φ of sums over rows: count, sum and avg, variances and
// standard deviations, correlation, and linear regression (PostgreSQL manual, section 9.21).
//
// Each function is written once, over numbers of any kind, and evaluated on several: on exact ones, which is the
// answer; on floating-point ones with derivatives, which carry means and covariances of the sums to the answer (the
// delta method); and on intervals with derivatives, which bound the answer's slope on a whole segment of sums at once.
// So the model cannot speak of another function than the one that is answered.
//
// The package knows no SQL, no rows and no secrets.
package aggregate
