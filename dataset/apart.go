package dataset

import (
	"context"

	"fugu/policy"
	"fugu/sqlstate"
	"fugu/upstream"
)

// LoadApart is Load for a database in which twins stand under the names of protected tables, which are in another
// one. No name is rewritten and no statement refused: of the policies only who may ask is left. protected are the
// databases of the same server that hold protected tables; with none there the catalog is not masked either, and no
// reader is needed.
func LoadApart(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader,
	protected ...string) (*Snapshot, error) {
	s, err := Load(ctx, nil, reader, protected...)
	if err != nil {
		return nil, err
	}
	s.Apart = policies
	return s, nil
}

// Admits refuses a user who may not ask about one of the twins of a database of their own. Statements are not looked at
// there, so that it counts for the session as a whole.
func (s *Snapshot) Admits(user string) error {
	for _, p := range s.Apart {
		if !p.MayAsk(user) {
			return sqlstate.New(sqlstate.NotAllowed, "user %q may not ask about dataset %s, whose twins are in this "+
				"database", user, p.Dataset).
				WithHint("The policy lists the analysts who may.").Ending()
		}
	}
	return nil
}
