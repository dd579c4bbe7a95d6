package build

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
	"fugu/sqlstate"
	"fugu/twin"
	"fugu/twin/margin"
)

// Misfits says in words which twins that are there were built by another policy than p: for another dataset, by other
// secrets, ranges, rows or privacy, with other columns left out, or along other links. What it says of a twin is not
// true of them. A twin that is not there is no misfit, nor is anything that needs no new build: analysts, budgets, how
// many rows a group needs.
//
// It looks at the list of twins and at the catalog of the database where these are, as a guest may: at no row of a
// twin, and at nothing of the protected tables. apart: twins stand under the tables' own names there.
func Misfits(ctx context.Context, db *pgx.Conn, apart bool, p *policy.Policy) (found []error, err error) {
	type twinned struct {
		policy.Table
		family []policy.Table
	}
	var there []twinned
	for _, root := range p.Tables {
		if root.Answers != policy.FromTwin || root.Link != nil {
			continue
		}
		family := familyOf(p, root)
		for _, t := range family {
			stands, err := standing(ctx, db, place{apart: apart}, t.Qualified())
			if err != nil {
				return nil, err
			}
			if stands {
				there = append(there, twinned{t, family})
			}
		}
	}
	// Before the first build there is no list, or the schema that it is to be in is closed to guests.
	if len(there) == 0 {
		return nil, nil
	}

	all, err := Twins(ctx, db)
	if is(err, sqlstate.InsufficientPrivilege) {
		return nil, errors.New("the guest may not read the list of twins, so that nobody can tell which policy they " +
			"were built by: run fugu twin build, which lets the guests of the configuration read it")
	} else if err != nil {
		return nil, fmt.Errorf("reading the list of twins: %w", err)
	}
	for _, t := range there {
		why, err := misfit(p, t.family, t.Table, all)
		if err != nil {
			return nil, err
		}
		if why != "" {
			found = append(found, p.Misfit(t.At, "table %s: %s", t.Qualified(), why))
		}
	}
	return found, nil
}

// standing reports whether there is a relation where the twin of a table stands.
func standing(ctx context.Context, db querier, at place, t policy.QualifiedName) (there bool, err error) {
	schema := schema
	if at.apart {
		schema = t.Schema
	}
	const find = `SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n
		ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
		WHERE n.nspname OPERATOR(pg_catalog.=) $1 AND c.relname OPERATOR(pg_catalog.=) $2)`
	if err := db.QueryRow(ctx, find, schema, t.Name).Scan(&there); err != nil {
		return false, fmt.Errorf("looking for the twin of %s: %w", t, err)
	}
	return there, nil
}

// misfit says why the twin of one table of a family, which is there, is not what the policy asks for; empty: it is.
func misfit(p *policy.Policy, family []policy.Table, t policy.Table, all []Twin) (why string, err error) {
	i := slices.IndexFunc(all, func(x Twin) bool { return x.Schema == t.Schema && x.Table == t.Name })
	if i < 0 {
		return "what stands in the place of its twin was not made by a build: drop that, and run fugu twin build", nil
	}

	// Of several differences the dearest to mend is told.
	x := all[i]
	if x.Dataset != p.Dataset {
		return fmt.Sprintf("its twin was built for dataset %s: bring that policy back, or run fugu twin build -new "+
			"-reason, which draws a twin for this one and costs its epsilon", x.Dataset), nil
	}
	_, same, err := specOf(p, family[0], x.Law)
	if err != nil {
		return "", err
	}
	if !same {
		return "its twin was built by a policy with other secrets, ranges, rows or privacy, whose promise is " +
			"another: bring that policy back, or run fugu twin build -new -reason, which costs epsilon again", nil
	}
	if _, by, _ := strings.Cut(x.Shape, " "); by != asked(family) {
		return "its twin was built by a policy that drops other columns, shows them otherwise, or links other " +
			"tables: run fugu twin build, which is free", nil
	}
	return "", nil
}

// asked is the fingerprint of what a policy says of how the twins of a family look: the columns that they leave out,
// and along what the rows of one go with those of another.
func asked(family []policy.Table) string {
	type look struct {
		Table policy.QualifiedName
		Drop  []string
		To    policy.QualifiedName
		On    []policy.LinkKey

		Columns   []policy.Column       `json:",omitempty"` // that are shown row by row
		Reference *policy.QualifiedName `json:",omitempty"` // by which they are
	}

	// Lists whose order means nothing are sorted.
	looks := make([]look, len(family))
	for i, t := range family {
		looks[i] = look{Table: t.Qualified(), Drop: slices.Sorted(slices.Values(t.Twin.Drop))}
		if len(t.Twin.Columns) > 0 {
			looks[i].Reference = &family[i].Reference
			looks[i].Columns = slices.SortedFunc(slices.Values(t.Twin.Columns),
				func(a, b policy.Column) int { return cmp.Compare(a.Name, b.Name) })
		}
		if t.Link != nil {
			looks[i].To = t.Link.To
			looks[i].On = slices.SortedFunc(slices.Values(t.Link.On), func(a, b policy.LinkKey) int {
				return cmp.Or(cmp.Compare(a.Own, b.Own), cmp.Compare(a.To, b.To))
			})
		}
	}

	text, _ := json.Marshal(looks)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// specOf is what the law depends on whose fingerprint is given, if the policy has such a law. Whether a predicate can
// be NULL is not looked up in the protected table: of the ways that it can be, one has the fingerprint.
func specOf(p *policy.Policy, root policy.Table, law string) (spec twin.Spec, ok bool, err error) {
	var proportions []string
	for _, s := range p.Secrets {
		if s.Table == root.Qualified() && s.Proportion != "" {
			proportions = append(proportions, s.Name)
		}
	}

	// Each way is a bit for each predicate.
	for null := range 1 << len(proportions) {
		spec, err := margin.Spec(p, root.Qualified(), func(secret string) bool {
			return null>>slices.Index(proportions, secret)&1 == 1
		})
		if err != nil {
			return spec, false, err
		}
		print, err := lawOf(spec)
		if err != nil || print == law {
			return spec, err == nil, err
		}
	}
	return twin.Spec{}, false, nil
}
