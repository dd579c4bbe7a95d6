package serving

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"fugu/ledger"
	"fugu/policy"
	"fugu/twin/build"
)

// BuildTwins builds the twins that a policy asks for, as fugu twin build does, over the keeper's DSN: a report for each
// family of them, in the policy's order. k says whom they are for, which ledger has their price (nil: a new one, that
// is then thrown away) and, where the same twin is needed each time, where random bytes come from (nil: the system's).
func BuildTwins(ctx context.Context, dsn string, p *policy.Policy, k build.Keeper, o build.Options) (
	reports []build.Report, err error) {
	if k.Conn, err = build.Connect(ctx, dsn); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, k.Conn.Close(context.WithoutCancel(ctx))) }()
	if k.Ledger == nil {
		dir, err := os.MkdirTemp("", "fugu-twins-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if k.Ledger, err = ledger.Open(ctx, "sqlite:"+filepath.Join(dir, "fugu.db"), ledger.Options{}); err != nil {
			return nil, err
		}
		defer func() { _ = k.Ledger.Close() }()
	}
	if k.Random == nil {
		k.Random = rand.Reader
	}
	k.Operator = "dba"

	// Linked tables go with their root.
	for _, table := range p.Tables {
		if table.Twin == nil || table.Link != nil {
			continue
		}
		r, err := k.Build(ctx, p, table, o)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}
