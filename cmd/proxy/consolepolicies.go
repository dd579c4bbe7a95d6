package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"fugu/admin/console"
	"fugu/explain"
	"fugu/policy"
	"fugu/privacy"
)

// Policies implements console.Source.
func (k *keeperPages) Policies(ctx context.Context) (out []console.Policy, err error) {
	h := k.house()
	for _, p := range h.policies {
		c := promised(p)
		if r := h.room(p.Database); r != nil && !h.twinsApart() {
			if c.Pictures, err = k.pictures(ctx, r, p); err != nil {
				return nil, err
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// promised is what a policy says of itself.
func promised(p *policy.Policy) console.Policy {
	c := console.Policy{Dataset: p.Dataset, Database: p.Database, Mechanism: p.Privacy.Mechanism,
		Epsilon: float64(p.Privacy.Epsilon), Delta: float64(p.Privacy.Delta),
		Limit: float64(p.Privacy.Budget.Epsilon), LimitDelta: float64(p.Privacy.Budget.Delta),
		Composition: "losses add up", Renewal: p.Privacy.Budget.Renewal(), Analysts: "every user",
	}
	if p.Privacy.Composition == policy.Jointly {
		c.Composition = "joint account"
	}
	if len(p.Analysts) > 0 {
		c.Analysts = strings.Join(p.Analysts, ", ")
	}
	for _, a := range p.Assume {
		c.Assumes = append(c.Assumes, string(a))
	}
	if w := p.Privacy.Within; w != nil {
		c.Relaxed = w.String()
	}
	switch e := p.Privacy.Estimation; {
	case e.Delta > 0:
		c.Estimation = fmt.Sprintf("The reference is a sample: noise covers it but for a chance of %v.", e.Delta)
	case e.Errors > 0:
		c.Estimation = fmt.Sprintf("Noise covers a reference that is off by %v standard errors.", e.Errors)
	}

	for _, t := range p.Tables {
		x := console.Table{Name: t.Qualified().String(), Answers: "noise", Reference: "none"}
		if t.Reference.Name != "" {
			x.Reference = t.Reference.String()
		}
		if t.Answers == policy.FromTwin {
			// A twin is paid for once, whatever is asked of it.
			x.Answers, c.Mechanism = "a twin", "counts of the twin"
			c.Limit, c.LimitDelta, c.Composition = c.Epsilon, c.Delta, "one price for ever"
		}
		c.Tables = append(c.Tables, x)
	}
	for _, s := range p.Secrets {
		property, values := describeSecret(s)
		c.Secrets = append(c.Secrets, console.Secret{Name: s.Name, Table: s.Table.String(), Property: property,
			Values: values})
	}
	return c
}

// describeSecret says what a secret is, and which of its values nobody may tell apart.
func describeSecret(s policy.Secret) (property, values string) {
	switch {
	case s.Proportion != "":
		property = "proportion of rows where " + s.Proportion
	case s.Mean != "":
		property = "mean of " + s.Mean
	case s.Categories != "":
		property = "proportions of the values of " + s.Categories
	default:
		property = "parameter " + s.Parameter
	}

	// Its values are listed as pairs, or lie in a range, or are vectors.
	var parts []string
	for _, x := range s.Spans {
		if s.Listed {
			parts = append(parts, fmt.Sprintf("%v against %v", x.From, x.To))
		} else {
			parts = append(parts, fmt.Sprintf("between %v and %v, within %v", x.From, x.To, x.Within))
		}
	}
	if r := s.Range; r != nil {
		parts = append(parts, fmt.Sprintf("each between %v and %v, within %v", r.From, r.To, r.Within))
	}
	if n := len(s.Vectors); n > 0 {
		parts = append(parts, fmt.Sprintf("%d pairs of vectors", n))
	}
	if len(parts) == 0 {
		parts = append(parts, "all pairs of its values")
	}
	return property, strings.Join(parts, "; ")
}

// pictures are how the statistics that ask for a policy's secrets are distributed under both values of a pair. They are
// worked out once for each load.
func (k *keeperPages) pictures(ctx context.Context, r *room, p *policy.Policy) ([]console.Picture, error) {
	k.mu.Lock()
	known, ok := k.drawn[p.Dataset]
	k.mu.Unlock()
	if ok {
		return known, nil
	}
	d, err := k.desk(r)
	if err != nil {
		return nil, err
	}

	// A picture that failed may succeed the next time, so that only a whole set is kept.
	whole := true
	var out []console.Picture
	for _, s := range p.Secrets {
		t, ok := p.Table(s.Table)
		statement := askFor(s)
		if !ok || t.Answers == policy.FromTwin || statement == "" {
			continue
		}
		xs, err := d.Explain(ctx, statement, []privacy.Epsilon{p.Privacy.Epsilon})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		picture := console.Picture{Secret: s.Name, Statement: statement}
		if err != nil {
			picture.Problem, whole = problem(err), false
		} else {
			picture = lawOf(s, t, statement, xs[0])
		}
		out = append(out, picture)
	}
	if whole {
		k.mu.Lock()
		k.drawn[p.Dataset] = out
		k.mu.Unlock()
	}
	return out, nil
}

// askFor is the statement that asks for a secret itself; empty: no single number is it.
func askFor(s policy.Secret) string {
	switch {
	case s.Proportion != "":
		return fmt.Sprintf("SELECT count(*) FROM %s WHERE %s", s.Table, strings.TrimSpace(s.Proportion))
	case s.Mean != "":
		return fmt.Sprintf("SELECT avg(%s) FROM %s", strings.TrimSpace(s.Mean), s.Table)
	}
	return ""
}

// quantiles is how many of the noise a picture has, of each sign.
const quantiles = 40

// lawOf is the law of a statement's only value, under both values of the pair that is hardest to hide.
func lawOf(s policy.Secret, t policy.Table, statement string, x explain.Explanation) console.Picture {
	p := console.Picture{Secret: s.Name, Statement: statement}
	for _, c := range x.Certificates {
		p.Certificates = append(p.Certificates, console.Certificate{Secret: c.Secret, Mechanism: string(x.Mechanism),
			Assumptions: strings.Join(c.Assumptions, ", "), Pair: pairOf(c.Pair), Epsilon: c.Epsilon, Delta: c.Delta})
	}
	if x.Components != 1 || len(x.Values) != 1 || len(s.Spans) == 0 {
		p.Problem = &console.Problem{Message: "The law of several values is not drawn."}
		return p
	}

	pair := [2]float64{s.Spans[0].From, min(s.Spans[0].To, s.Spans[0].From+s.Spans[0].Within)}
	for _, c := range x.Certificates {
		if c.Secret == s.Name && c.Pair != [2]float64{} {
			pair = c.Pair
		}
	}
	p.Values = [2]string{short(pair[0]), short(pair[1])}
	p.Sampling, p.NoiseSD = x.Values[0].Inherent, x.Values[0].SD

	// Where the model moves the value as the secret's own definition does, the means are those of the definition.
	p.Means = pair
	if s.Proportion != "" {
		p.Means = [2]float64{pair[0] * float64(t.Rows), pair[1] * float64(t.Rows)}
	}
	for _, moved := range x.Secrets {
		if apart := math.Abs(p.Means[1] - p.Means[0]); moved.Secret == s.Name &&
			math.Abs(moved.Norm2-apart) > .05*apart {
			p.Means, p.Relative = [2]float64{-moved.Norm2 / 2, moved.Norm2 / 2}, true
		}
	}
	for i := range quantiles {
		h := x.Calibration.Noise.HalfWidth(0, (float64(i)+.5)/quantiles)
		p.Noise = append(p.Noise, -h, h)
	}
	return p
}
