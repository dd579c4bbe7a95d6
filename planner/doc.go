// Package planner turns a parsed Statement into a Plan: the query vector F of each cut (one component for each public
// key combination and aggregate), the statistics statement that the reader runs for it, the statement over the
// reference that gives F's class moments, and the rewritten statement that the guest prepares.
//
// Planning touches no protected row: it depends on the text, the policy and the catalog only. The package does not run
// anything itself, except that it asks a Describer what types PostgreSQL resolves a statistics statement to; it knows
// no protocol, no noise and no budget.
package planner
