package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/hook"
	"fugu/policy"
	"fugu/twin"
)

// Twins of the same rows nest only if they are drawn by one order and divide the rows into the same classes. This file
// looks for what was told of the rows otherwise: by other classes, as rows of another family, under another name.

// earlier is what was told before a build, as far as it may be of the same rows.
type earlier struct {
	books  books
	tx     pgx.Tx // where the protected tables are
	family *family
	key    []byte // of the order of drawing
	told   []Draw // by the ledger, of the family's root, the first first
	next   Draw
	// contains reports whether the root's rows are those that a draw was made of, by the order that has the key
	contains    func(ctx context.Context, key []byte, d Draw) (bool, error)
	independent bool // the owner declares the rows to be drawn independently of all before
}

// compare compares the rows with those of the last draw, and their classes with those of all draws of the same rows.
//
// That classes have to be the same: a twin shows within each of its classes what any other condition holds for, as it
// is. So of a condition that becomes another one, income above 60,000 in the place of 50,000, the earlier twin shows
// what part of the old class the new one is, the later twin what part of the rest is between the two, and from both
// parts follow both shares, whatever was drawn. A secret that is added the earlier twin has shown, and one that is left
// out the later one shows.
func (e earlier) compare(ctx context.Context) (likeness, error) {
	root, last := e.family.root, e.told[len(e.told)-1]
	same, err := e.unchanged(ctx, last)
	switch {
	case err != nil:
		return otherRows, err
	case !same:
		return otherRows, nil
	case hook.TwinForgetful:
		return sameRows, nil
	}

	// Conditions may be spelled otherwise, as long as they hold for the same rows.
	looked := map[string]bool{e.next.Class: true}
	for _, d := range e.told {
		if d.Series != last.Series || looked[d.Class] {
			continue
		}
		looked[d.Class] = true
		if same, err := root.sameClasses(ctx, e.tx, d.Class, e.next.Class); err != nil || !same {
			return otherClasses, err
		}
	}

	// The price of a draw is what it tells of the pairs that it was made to hide.
	for _, d := range e.told {
		if d.Series == last.Series && d.Law != e.next.Law && !d.Promise.Covers(e.next.Promise, sameName) {
			return hidLess, nil
		}
	}
	return sameRows, nil
}

// unchanged reports whether the rows that a draw was made of are those that there are now, each of the class that it
// was of then. Where classes were others, the rows are counted by those; where that fails, they are not known to be the
// same.
func (e earlier) unchanged(ctx context.Context, d Draw) (same bool, err error) {
	if d.Class == e.next.Class {
		return bytes.Equal(e.next.Contents, d.Contents), nil
	}
	return e.contains(ctx, e.key, d)
}

// sameClasses reports whether two ways to divide the rows into classes, in SQL, put the same rows together.
func (s *source) sameClasses(ctx context.Context, db pgx.Tx, one, other string) (same bool, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `SELECT pg_catalog.count(*) = pg_catalog.count(DISTINCT one)
			AND pg_catalog.count(*) = pg_catalog.count(DISTINCT other)
			FROM (SELECT DISTINCT (`+one+`) AS one, (`+other+`) AS other FROM `+s.qualified()+` AS t) AS x`).Scan(&same)
	})
	var pe *pgconn.PgError
	if errors.As(err, &pe) { // a column of then is no more
		return false, nil
	}
	return same, err
}

// relation is what no other relation is called, whatever becomes of its name: the server, the database, the table.
func (s *source) relation(ctx context.Context, db pgx.Tx) (name string, err error) {
	const sql = `SELECT pg_catalog.concat_ws('/', (SELECT system_identifier FROM pg_catalog.pg_control_system()),
		(SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()), $1::pg_catalog.oid)`
	if err := db.QueryRow(ctx, sql, s.oid).Scan(&name); err != nil {
		return "", fmt.Errorf("looking which relation %s is: %w", s.qualified(), err)
	}
	return name, nil
}

// remember writes down with which table the rows of each table of the family are drawn.
func (e earlier) remember(ctx context.Context) error {
	root := e.family.root.qualified()
	for _, s := range e.family.sources {
		with, nth, err := e.books.drawnWith(ctx, s.Qualified())
		if err == nil && (nth == 0 || with != root) {
			_, err = e.books.keep(ctx, s.Qualified(), drawnWithKey(s.Qualified(), nth+1), []byte(root))
		}
		if err != nil {
			return fmt.Errorf("remembering with what rows of %s are drawn: %w", s.qualified(), err)
		}
	}
	return nil
}

// check refuses a draw beside another one of the same rows that went by another order: rows of a linked table
// that were drawn by themselves or with another table's, and a table that has another name now. Capture and recapture
// would tell how many rows there are.
func (e earlier) check(ctx context.Context) error {
	if e.independent || hook.TwinForgetful {
		return nil
	}

	// The place of a row in the order is that of the row it goes with.
	root := e.family.root
	for _, s := range e.family.sources {
		with, _, err := e.books.drawnWith(ctx, s.Qualified())
		if err != nil {
			return err
		}
		if with == "" || with == root.qualified() {
			continue
		}

		how := "with rows of " + with
		if with == s.qualified() {
			how = "by themselves"
		}
		return fmt.Errorf("rows of %s were drawn %s for an earlier twin, and would be drawn with rows of %s now: the "+
			"two together show how many there are; keep the link of then, or, if the rows were drawn independently "+
			"of those of before, say so with -new -independent -reason", s.qualified(), how, root.qualified())
	}

	// A table with draws of its own has its order by its name.
	if len(e.told) > 0 {
		return nil
	}
	return e.checkRenamed(ctx)
}

// checkRenamed refuses the first draw of a table that is another one's rows under a new name: renamed, moved to another
// schema, restored from a dump, or copied.
func (e earlier) checkRenamed(ctx context.Context) error {
	names, err := e.books.tables(ctx)
	if err != nil {
		return err
	}
	root := e.family.root
	for _, name := range names {
		if name == root.Qualified() {
			continue
		}
		last, err := e.books.latest(ctx, name)
		if err != nil {
			return err
		} else if last == nil {
			continue
		}

		// The rows are read for it only if they are as many: a table that is the same relation may have others since.
		same, n := last.Relation == e.next.Relation, int64(0)
		for _, told := range last.Noisy {
			n += told
		}
		if !same && n == root.Rows {
			key, err := e.books.order(ctx, name)
			if err != nil {
				return err
			}
			if same, err = e.contains(ctx, key, *last); err != nil {
				return err
			}
		}
		if same {
			return fmt.Errorf("it has the rows of %s, of which a twin was drawn under that name: drawn anew they "+
				"would show beside it how many there are; give the table its name back, or, if its rows were drawn "+
				"independently of those, say so with -new -independent -reason", name)
		}
	}
	return nil
}

// promiseOf is what a twin of a law hides.
func promiseOf(s twin.Spec) *policy.Promise {
	p := policy.Promise{KnownRows: s.KnownRows, Smallest: s.Smallest}
	for _, secret := range s.Secrets {
		secret.At, secret.PropertyAt = policy.Position{}, policy.Position{} // where it stands in the file says nothing
		p.Secrets = append(p.Secrets, secret.Secret)
	}
	return &p
}

// sameName leaves aside what two secrets of one name are about: by that rows have classes, which are compared row by
// row.
func sameName(_, _ policy.Secret) bool { return true }
