package build

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
	"fugu/policy"
	"fugu/twin"
)

// Build makes the twin of a table with secrets and of the tables linked to it, where the policy asks for one that is
// not there. It holds one transaction from the first look at the rows to the moment at which the twin is seen.
func (k *Keeper) Build(ctx context.Context, p *policy.Policy, root policy.Table, o Options) (r Report, err error) {
	if root.Twin == nil || root.Link != nil {
		return r, fmt.Errorf("table %s has no twin of its own", root.Qualified())
	}
	if root.Twin.Unit != "" {
		return r, errors.New(Subjects(p, root))
	}
	if o.New && strings.TrimSpace(o.Reason) == "" {
		return r, errors.New("a new draw of a twin needs a reason, for the audit chain")
	}

	// Where twins stand apart, nothing hides the rows of one that is not to be listed.
	if k.Target != nil {
		if err := shown(p, root); err != nil {
			return r, err
		}
	}

	err = k.exclusively(ctx, func(tx pgx.Tx, at place) error {
		r, err = k.build(ctx, tx, at, p, root, o)
		return err
	})
	if err != nil {
		return r, fmt.Errorf("the twin of %s: %w", root.Qualified(), err)
	}
	return r, nil
}

// build is the corridor of a build.
func (k *Keeper) build(ctx context.Context, tx pgx.Tx, at place, p *policy.Policy, root policy.Table, o Options) (
	r Report, err error) {
	// What was told before stands, and then there is nothing to do.
	k.say(0, "looking at the tables")
	j, err := k.look(ctx, tx, at, p, root, o)
	if err != nil {
		return r, err
	}
	r.Mechanism = j.design.String()
	if r.Twins, err = j.recall(ctx); err != nil || r.Twins != nil {
		return r, err
	}

	// The counts are drawn by what the table holds now, and paid for before anything of them can be seen.
	counts, err := j.count(ctx)
	if err != nil {
		return r, err
	}
	hook.Point("before the price of a twin")
	draw, charged, err := j.draw(ctx, counts)
	if err != nil {
		return r, err
	}
	r.Charged = charged
	hook.Point("after the price of a twin")

	// From here on all follows from what was paid for: a build that fails is made again for nothing.
	take, err := j.design.Take(draw.Noisy)
	if err != nil {
		return r, err
	}
	amounts, warnings, err := amounts(j.design, counts.classes, draw.Noisy, take)
	if err != nil {
		return r, err
	}
	more, err := j.settleColumns(ctx, draw)
	if err != nil {
		return r, err
	}
	r.Warnings = append(warnings, more...)
	if r.Twins, err = j.write(ctx, counts, amounts); err != nil {
		return r, err
	}

	j.certify(r.Twins, draw, take)
	k.say(.97, "publishing")
	hook.Point("before a twin is published")
	r.Made = true
	if err := j.publish(ctx, r.Twins); err != nil {
		return r, err
	}
	k.say(1, "done")
	return r, nil
}

// publish puts the twins in their place, with what is said of them.
func (j *job) publish(ctx context.Context, twins []Twin) error {
	if err := j.family.publish(ctx, j.at, j.all, twins, j.Guests, j.Reader); err != nil {
		return err
	}
	return j.enterColumns(ctx)
}

// amounts says how much of each class is taken, and how often it stands. About a table whose value is outside of what
// the policy protects nothing is promised: of a class that has fewer rows than are to be taken all are, and the DBA is
// told. Analysts, who see no error, are not to learn it sooner than they must.
func amounts(design *twin.Design, counts, noisy, take []int64) (out []drawn, warnings []string, err error) {
	covered := design.Covers(counts)
	if !covered {
		warnings = append(warnings, "the table's own value of a secret is outside the values that the policy "+
			"protects: nothing is promised about it, and the twin may show it")
	}

	// A class is told by its noisy count, whatever it has: of that many rows the twin consists.
	for i, m := range take {
		stands := noisy[i]
		if hook.TwinOneMore {
			m++
		}
		if hook.TwinOfCounts {
			stands = counts[i]
		}

		d := drawn{take: min(m, counts[i])}
		switch {
		case covered && m >= counts[i] && !hook.TwinOneMore:
			return nil, nil, fmt.Errorf("class %s: all rows would be taken, which its law excludes",
				design.Classes[i].Name)
		case counts[i] == 0:
			warnings = append(warnings, fmt.Sprintf("no row is of class %s: the twin is smaller by %d rows",
				design.Classes[i].Name, noisy[i]))
			out = append(out, d)
			continue
		case m > counts[i]:
			warnings = append(warnings, fmt.Sprintf("class %s has fewer rows than are to be taken: all are",
				design.Classes[i].Name))
		}

		if d.each, d.more, err = twin.Copies(stands, d.take); err != nil {
			return nil, nil, err
		}
		out = append(out, d)
	}
	return out, warnings, nil
}

// write makes the tables of the twin, with all their rows, under names of the build.
func (j *job) write(ctx context.Context, c counts, amounts []drawn) ([]Twin, error) {
	f := j.family
	rows, sampled := int64(0), int64(0)
	for _, d := range amounts {
		rows, sampled = rows+d.take*d.each+d.more, sampled+d.take
	}
	j.say(.2, "taking rows of "+f.root.qualified())
	if err := j.settle(ctx, c, amounts); err != nil {
		return nil, err
	}

	// A channel may show NULL in a column that has none.
	f.root.loosenColumns(j.released)
	twins := make([]Twin, len(f.sources))
	for i, s := range f.sources {
		part := .2 + .75*float64(i)/float64(len(f.sources))
		j.say(part, "writing the twin of "+s.qualified())

		// Each table is laid beside the true ones, where its rows can be read, and only then goes to its place.
		n, err := f.lay(ctx, j.tx, s, j.keys, j.released)
		if err != nil {
			return nil, err
		}
		if s == f.root && n != rows {
			return nil, fmt.Errorf("it came out with %d rows of %d", n, rows)
		}
		twins[i] = Twin{Schema: s.Schema, Table: s.Name, Rows: n, Sampled: n}
		if s == f.root {
			twins[i].Sampled = sampled
		}

		if j.at.apart {
			if twins[i].Left, err = j.carry(ctx, s, n, part+.3/float64(len(f.sources))); err != nil {
				return nil, err
			}
		} else if err := s.describeAnew(ctx, j.tx); err != nil {
			return nil, err
		}
		j.say(part+.5/float64(len(f.sources)), "keys and indexes of the twin of "+s.qualified())
		left, err := s.constrain(ctx, j.at.tx, j.keys[s])
		if err != nil {
			return nil, err
		}
		twins[i].Left = append(twins[i].Left, left...)
		hook.Point("after a table of a twin")
	}
	return twins, nil
}
