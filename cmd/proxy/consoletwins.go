package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/admin/console"
	"fugu/policy"
	"fugu/twin"
	"fugu/twin/build"
	"fugu/twin/margin"
)

// Twins implements console.Source.
func (k *keeperPages) Twins(ctx context.Context) (out []console.Twin, err error) {
	h := k.house()
	var built []build.Twin
	for _, r := range h.rooms {
		if !slices.ContainsFunc(h.policies, hasTwin) {
			break
		}
		found, err := registered(ctx, h, r)
		if err != nil {
			return nil, err
		}
		built = append(built, found...)
	}

	// Each is shown as it would be, and if it is built, as it is.
	for _, p := range h.policies {
		for _, t := range p.Tables {
			if t.Answers != policy.FromTwin {
				continue
			}
			x, err := k.expects(p, t)
			if err != nil {
				return nil, err
			}
			for _, b := range built {
				if b.Schema == t.Schema && b.Table == t.Name {
					fillTwin(&x, b)
				}
			}
			out = append(out, x)
		}
	}
	return out, nil
}

func hasTwin(p *policy.Policy) bool {
	return slices.ContainsFunc(p.Tables, func(t policy.Table) bool { return t.Answers == policy.FromTwin })
}

// registered are the twins that a database's list of builds names. It is read as a guest reads it: all of it is told.
func registered(ctx context.Context, h *house, r *room) ([]build.Twin, error) {
	config, err := h.guestConfig(r)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["search_path"] = "pg_catalog, pg_temp"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return build.Twins(ctx, conn)
}

// fillTwin adds what a build has told.
func fillTwin(x *console.Twin, b build.Twin) {
	x.Built, x.Rows, x.Sampled = b.Built, b.Rows, b.Sampled
	x.Epsilon, x.Delta, x.Assumes = b.Epsilon, b.Delta, b.Assumes
	for _, c := range b.Columns {
		x.Columns = append(x.Columns, fmt.Sprint(c.Promise))
	}
	for i, name := range b.Classes {
		c := console.Class{Name: name, Told: b.Told[i], Taken: b.Taken[i]}
		if i < len(b.Noise) {
			c.ToldError = &b.Noise[i]
		}
		x.Classes = append(x.Classes, c)
		x.Groups = append(x.Groups, groupsOf(c)...)
	}
}

// groupsOf says how far counts of rows of a class are off, as EXPLAIN (PRIVACY) does.
func groupsOf(c console.Class) (out []console.Group) {
	off, blurred := twin.DrawingError(c.Told, c.Taken), 0.
	if c.ToldError != nil {
		blurred = *c.ToldError
	}
	for rows := int64(10); rows <= c.Told/2; rows *= 10 {
		for _, n := range []int64{rows, 3 * rows} {
			if n > c.Told/2 {
				break
			}
			d := twin.Count{Rows: float64(n), Told: float64(c.Told), Noise: blurred, Drawing: off}.Deviation()
			out = append(out, console.Group{Class: c.Name, Rows: n, Drawing: d.Drawing, Both: d.Both()})
		}
	}
	return out
}

// expects is what a policy alone says of the twin of a table, worked out once for each load.
func (k *keeperPages) expects(p *policy.Policy, t policy.Table) (console.Twin, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := p.Dataset + " " + t.Qualified().String()
	if x, ok := k.expected[name]; ok {
		return x, nil
	}
	x := console.Twin{Dataset: p.Dataset, Table: t.Qualified().String(), Epsilon: float64(p.Privacy.Epsilon),
		Delta: float64(p.Privacy.Delta), Assumes: string(policy.Exchangeable)}
	if t.Twin != nil {
		x.AtLeast = t.Twin.AtLeast
	}
	if t.Link == nil { // a linked table's rows come with those of its root
		if err := foretell(&x, twinRoot{p, t}); err != nil {
			x.ProblemOfPreview = err.Error()
		}
	}
	k.expected[name] = x
	return x, nil
}

// foretell adds what fugu twin preview says.
func foretell(x *console.Twin, root twinRoot) error {
	spec, err := margin.Spec(root.policy, root.table.Qualified(), func(string) bool { return false })
	if err != nil {
		return err
	}
	design, err := twin.New(spec)
	if err != nil {
		return err
	}

	p := previewOf(root, spec, design)
	x.Law = p.Mechanism

	// For each table that the secret lets be, the classes as they would be told.
	for _, row := range p.Tables {
		for i, c := range design.Classes {
			e := console.Expected{Class: c.Name, Rows: row.Counts[c.Name], Taken: row.Expect[c.Name].Taken,
				Told: row.Expect[c.Name].Noise}
			if i == 0 { // of the table as a whole
				e.Group = fmt.Sprintf("±%.1f%%, ±%.1f%%, ±%.1f%%", 100*row.Groups["a tenth"],
					100*row.Groups["a hundredth"], 100*row.Groups["a thousandth"])
			}
			x.Expected = append(x.Expected, e)
		}
	}

	// An ε that is not there means that no bound is known.
	for _, known := range p.Known {
		n := console.Known{Rows: known.Rows}
		if known.Epsilon != nil {
			n.Epsilon, n.Bounded = *known.Epsilon, true
		}
		x.Known = append(x.Known, n)
	}
	return nil
}
