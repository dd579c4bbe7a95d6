package planner

import (
	"fugu/planner/protected"
	"fugu/planner/row"
	"fugu/planner/unlisted"
)

// What plans are made of, under the names that those who ask for plans know it by.
type (
	Table    = protected.Table
	Column   = protected.Column
	Value    = protected.Value
	Secret   = protected.Secret
	Link     = protected.Link
	LinkKey  = protected.LinkKey
	Calendar = protected.Calendar
	Querier  = protected.Querier

	// Description holds what PostgreSQL resolves a statement to.
	Description = row.Description
)

// MaxGroups is how many groups of a twin one SELECT may have.
const MaxGroups = unlisted.MaxGroups
