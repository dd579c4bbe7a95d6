// Package adult holds the SQL of this directory's example for Go programs: a database about people's income, in the
// shape of the Adult census data set (Becker & Kohavi 1996, UCI Machine Learning Repository). It runs nothing; load.sh
// does the same without Go.
package adult

import _ "embed"

// The scripts run in this order, in one session of a superuser's and in a new database. Between them is a temporary
// table census with the columns of adult: Generate creates it and fills it; whoever has other data creates it instead.
var (
	//go:embed schema.sql
	Schema string // the tables, and the roles with their rights
	//go:embed generate.sql
	Generate string // made-up people, the same ones each time
	//go:embed split.sql
	Split string // census's complete rows into the protected table adult and its public reference

	//go:embed adult.policy.yaml
	Policy string // what is protected, answered with noise
)
