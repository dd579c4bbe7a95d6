package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fugu/planner"
	"fugu/policy"
	"fugu/upstream"
)

// loadDeclared plans the statements whose models the policies declare.
func (s *Snapshot) loadDeclared(ctx context.Context, reader *upstream.Reader) error {
	for _, p := range s.Policies {
		for _, d := range p.Declared {
			if err := s.declare(ctx, reader, p, d); err != nil {
				return p.Misfit(d.At, "declared model %s: %w", d.Name, err)
			}
		}
	}
	return nil
}

func (s *Snapshot) declare(ctx context.Context, reader *upstream.Reader, p *policy.Policy, d policy.Declared) error {
	c, err := s.single(ctx, reader, p, d.Statement.SQL)
	if err != nil {
		return err
	}
	out := &Declared{Name: d.Name}
	if !d.Coupled() && !p.Accepts(policy.Translation) {
		return errors.New("a declared model says how the distribution shifts, and nothing of coupled datasets: " +
			"write assume: [translation], or samples, or concentrated")
	}

	// What has one component may be declared without its name.
	list, names := Components(c)
	given := d.Components
	if given == nil && len(names) == 1 {
		given = names
	}
	order, err := match(names, given)
	if err != nil {
		return err
	}

	out.Components = list
	for _, sec := range c.Table.Secrets {
		i := slices.IndexFunc(d.Laws, func(l policy.Law) bool { return l.Secret == sec.Name })
		if i < 0 {
			return fmt.Errorf("it does not say how secret %s of %s moves the statement", sec.Name, c.Table)
		}
		out.Laws = append(out.Laws, arranged(d.Laws[i], order))
	}
	if len(d.Laws) > len(out.Laws) {
		return fmt.Errorf("it speaks of %d secrets, and %s has %d", len(d.Laws), c.Table, len(out.Laws))
	}

	// Two models of one statement would leave open which of them noise is calibrated to.
	key, err := cutKey(c)
	if err != nil {
		return err
	}
	if other := s.declared[key]; other != nil {
		return fmt.Errorf("the model %s is of the same statement", other.Name)
	}
	s.declared[key] = out
	if d.Coupled() {
		return s.alone(c, p, out)
	}
	return nil
}

// alone works out how close the laws of a model are, and makes its statement the only one about its table: nothing
// says how another one varies together with it, so that the two could tell together what each of them hides.
func (s *Snapshot) alone(c *planner.Bound, p *policy.Policy, d *Declared) error {
	root := s.rootOf(c)
	if root.Alone != nil {
		return fmt.Errorf("the model %s declares another statement about %s by its distribution, and nothing says how "+
			"the two vary together: write one statement of all the values", root.Alone.Name, root.Table)
	}
	root.Alone = d
	for i, l := range d.Laws {
		near, err := closeness(p, l, s.Find(c.Table.Schema, c.Table.Name).Psi[i].Spans)
		if err != nil {
			return err
		}
		d.Close = append(d.Close, near)
	}
	return nil
}

// rootOf is the table at the end of the links of a cut's, on which its secrets live.
func (s *Snapshot) rootOf(c *planner.Bound) *Protected {
	root := c.Table.Root()
	return s.Find(root.Schema, root.Name)
}

// Only is the model of the one statement that a cut's table answers; nil: it answers others too.
func (s *Snapshot) Only(c *planner.Bound) *Declared { return s.rootOf(c).Alone }

// match finds for each name its place among those given, each of which must be a name.
func match(names, given []string) ([]int, error) {
	order := make([]int, len(names))
	for i, n := range names {
		order[i] = slices.Index(given, n)
	}
	if len(given) != len(names) || slices.Contains(order, -1) {
		return nil, fmt.Errorf("its components are not those of the statement, which are: %s",
			strings.Join(names, "; "))
	}
	return order, nil
}

// arranged is a law with its vectors in another order.
func arranged(l policy.Law, order []int) policy.Law {
	out := policy.Law{Secret: l.Secret, Values: l.Values, Weights: l.Weights, Concentrated: l.Concentrated, At: l.At}
	pick := func(v []float64) []float64 {
		w := make([]float64, len(order))
		for i, o := range order {
			w[i] = v[o]
		}
		return w
	}

	for _, points := range l.Samples {
		var moved [][]float64
		for _, x := range points {
			moved = append(moved, pick(x))
		}
		out.Samples = append(out.Samples, moved)
	}

	for _, mean := range l.Means {
		out.Means = append(out.Means, pick(mean))
	}
	if c := l.Concentrated; c != nil {
		out.Concentrated = &policy.Concentrated{Within: pick(c.Within), ButFor: c.ButFor}
	}
	// A covariance has both its rows and its columns in the new order.
	for i := range l.Covariances {
		var rows [][]float64
		for _, o := range order {
			rows = append(rows, pick(l.Covariances[i][o]))
		}
		out.Covariances = append(out.Covariances, rows)
	}
	return out
}

// DeclaredFor is the declared model of a cut, nil if there is none.
func (s *Snapshot) DeclaredFor(c *planner.Bound) (*Declared, error) {
	if len(s.declared) == 0 || len(c.Aggregates) == 0 {
		return nil, nil
	}
	key, err := cutKey(c)
	return s.declared[key], err
}
