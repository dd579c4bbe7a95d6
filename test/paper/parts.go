package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/mechanism"
	"fugu/model"
	"fugu/privacy"
	"fugu/sensitivity"
)

// request is what the product asks its mechanisms for a statement of counts under weights: total.
func (m *models) request(f measured, b privacy.Budget) (mechanism.Request, error) {
	r := mechanism.Request{Budget: b, Components: make([]mechanism.Component, len(f.labels)), Absolute: true}
	for i, s := range m.spans {
		psi := model.Psi{Name: m.table.Secrets[i].Name, Spans: []sensitivity.Span{s}}
		shifts, err := f.moments.Shifts(i, psi, 0)
		if err != nil {
			return r, err
		}
		r.Shifts, r.Families = append(r.Shifts, shifts...), append(r.Families, f.moments.Families(i, psi)...)
		for k, step := range f.moments.LatticeSteps(i, psi) {
			c := &r.Components[k]
			c.Lattice, c.Unit, c.Integer = math.Max(c.Lattice, step), 1, true
		}
	}
	return r, nil
}

// part is a request of which something is left out.
type part struct {
	name string
	of   func(mechanism.Request) mechanism.Request
}

// spentOn are the parts that the noise of grouped counts consists of.
var spentOn = []part{
	{"all", func(r mechanism.Request) mechanism.Request { return r }},
	{"no unequal covariances", func(r mechanism.Request) mechanism.Request {
		r.Families = nil
		return r
	}},
	{"no unseen rows", unmoved},
	{"unseen only where shown", func(r mechanism.Request) mechanism.Request { // Good's rows left out, one stays
		return changed(r, func(s *sensitivity.Shift) {
			s.Unseen = slices.Clone(s.Unseen)
			for i := range s.Unseen {
				s.Unseen[i].Rows = 1
			}
		})
	}},
	{"no loss of weight", func(r mechanism.Request) mechanism.Request {
		return changed(r, func(s *sensitivity.Shift) { s.Beside = make([]float64, len(s.Beside)) })
	}},
	{"no lattice", func(r mechanism.Request) mechanism.Request {
		r.Components = slices.Clone(r.Components)
		for k := range r.Components {
			r.Components[k].Lattice = 1. / 1024
		}
		return r
	}},
	{"the direction alone", func(r mechanism.Request) mechanism.Request {
		r = unmoved(r)
		r.Families = nil
		return r
	}},
}

func changed(r mechanism.Request, by func(*sensitivity.Shift)) mechanism.Request {
	r.Shifts = slices.Clone(r.Shifts)
	for i := range r.Shifts {
		by(&r.Shifts[i])
	}
	return r
}

// unmoved leaves out all that is beside the directions: of counts, what rows that the reference does not show would
// change.
func unmoved(r mechanism.Request) mechanism.Request {
	return changed(r, func(s *sensitivity.Shift) { s.Beside, s.Unseen = make([]float64, len(s.Beside)), nil })
}

// printParts says of the grouped counts what their noise would be if one thing less had to be hidden.
func (m *models) printParts(ctx context.Context, truth *pgx.Conn) error {
	head := []any{"statement", "rows"}
	for _, p := range spentOn {
		head = append(head, p.name)
	}
	s := newSheet("What the noise of `directional` is spent on under weights: total: Σ|noise|/Σ|F| if there were …",
		append(head, "")...)
	for _, p := range panels {
		if !p.grouped {
			continue
		}
		exact, err := cells(ctx, truth, p)
		if err != nil {
			return err
		}
		f, err := m.measure(ctx, p.sql)
		if err != nil {
			return err
		}
		whole, err := m.request(f, budget(1, .001))
		if err != nil {
			return err
		}
		rows := ""
		for _, shift := range whole.Shifts {
			for _, u := range shift.Unseen {
				rows += fmt.Sprintf(" %d", u.Rows)
			}
		}
		line := []any{p.name, rows}
		for _, part := range spentOn {
			c, err := mechanism.Calibrate(ctx, mechanism.Directional, part.of(whole))
			if err != nil {
				return fmt.Errorf("%s, %s: %w", p.name, part.name, err)
			}
			total, _, err := relative(means(c, f.labels), exact)
			if err != nil {
				return err
			}
			line = append(line, number(total))
		}
		s.row(append(line, "")...)
	}
	return s.w.Flush()
}
