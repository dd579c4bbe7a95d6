// Package shadow stands between clients and what the catalog of the server says of protected tables. Shadows mask
// values that depend on their rows; that is a defence, and what cannot be masked is refused. An Introspection shows the
// tables to clients that have no right on them, and Hidden leaves out what their twins have not; these are courtesies.
//
// A mask is a subselect of our own in the place of a relation or an argument, in the tree of the client's statement.
package shadow

import "fugu/internal/hook"

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

	// Columns are hidden before anything of ours stands in the statement: what is masked is found out from the catalog
	// as it is.
	p.hide(m.Hidden, s.Root)

	// By the first look alone ordinary texts reach the guest as they are: there is nothing to shadow in them.
	if m.Shadows.Suspects(s.Text) && !hook.Unmasked {
		if err := p.cast(m.Shadows); err != nil {
			return false, err
		}
	}

	if err := p.introspect(m.Listing, m.Definitions, m.Hidden); err != nil {
		return false, err
	}
	return p.changed, p.bring(m.lists())
}
