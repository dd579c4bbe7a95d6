// Package shadow stands between clients and what the catalog of the server says of protected tables. Shadows mask
// values that depend on their rows; that is a defence, and what cannot be masked is refused. An Introspection shows the
// tables to clients that have no right on them, and Hidden leaves out what their twins have not; these are courtesies.
//
// A mask is a subselect of our own in the place of a relation or an argument, in the tree of the client's statement.
package shadow

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/internal/hook"
)

// Masks are all that stands between statements and the catalog of the server. What is nil does nothing.
type Masks struct {
	Shadows     *Shadows
	Listing     *Introspection
	Definitions Definitions // for Listing
	Hidden      *Hidden
}

// Apply puts the masks into a statement, and reports whether it has changed. An error is a *sqlstate.Error with a
// position, of something that cannot be masked, or that of reading the Definitions.
func (m Masks) Apply(s Statement) (changed bool, err error) {
	p := &pass{Statement: s}

	// By the first look alone ordinary texts reach the guest as they are: there is nothing to shadow in them.
	var suspect *shadowing
	if m.Shadows.Suspects(s.Text) && !hook.Unmasked {
		if suspect, err = p.suspect(m.Shadows); err != nil {
			return false, err
		}
	}

	// Columns are hidden before any shadow stands in the statement: what is masked is found out from the catalog as it
	// is. A pg_class that the statement could see too much of is masked instead, and its mask is without twins, too.
	p.hide(m.Hidden, s.Root, suspect == nil || !suspect.exposed)
	if suspect != nil {
		if err := suspect.cast(); err != nil {
			return false, err
		}
	}

	if err := p.introspect(m.Listing, m.Definitions, m.Hidden); err != nil {
		return false, err
	}
	if !p.changed {
		return false, nil
	}
	if between := bring(m.lists(), s.Root); between != nil {
		return false, p.refuse(between.Location, "Give the WITH query another name.",
			"a WITH query has a name that Fugu uses for its own")
	}
	return true, nil
}

// lists are the queries of the lists that masks may ask, each by its name.
func (m Masks) lists() map[string]*pg.Node {
	lists := map[string]*pg.Node{}
	if m.Shadows != nil {
		lists[maskedOIDs], lists[databaseOIDs] = m.Shadows.masked, m.Shadows.databases
	}
	if m.Listing != nil {
		lists[shownOIDs] = m.Listing.shown
	}
	return lists
}
