package model

import (
	"context"
	"math"
	"slices"

	"fugu/internal/hook"
	"fugu/planner"
	"fugu/sqlstate"
)

// plain is the nats that a statement may take without being suspected of having been chosen for its errors: a
// comparison or two, or an operation on two columns.
const plain = 14

// chosen finds how many rows of each class the reference may not show because the statement was chosen so: by someone
// who knows the reference, or asks for noise until there is little. One row in N, as unseen has it, is what a reference
// cannot show of a condition that was written without looking at it.
//
// A statement of L nats leaves out so many rows, and no more than are alone with what they are told apart by: what two
// rows share, all rows that have it share. How much of the class has values of which the reference has none is, on
// average, the share of those alone [Good 1953]. What the reference does show is off by at most √(2L) standard errors,
// one for each that is alone [Bernstein's inequality and a sum over all statements]: c.fitted of them, beyond those of
// a plain statement. What counts is the text that a value depends on.
func (m *Moments) chosen(ctx context.Context, ref planner.Querier) error {
	var err error
	if m.texts, err = m.cut.Chosen(ctx, ref, m.size); err != nil {
		return err
	}
	for i := range m.secrets {
		for _, choice := range m.texts.Choices {
			if err := m.choose(ctx, ref, i, choice); err != nil {
				return err
			}
		}
	}
	return nil
}

// choose does so for the values that depend on one text.
func (m *Moments) choose(ctx context.Context, ref planner.Querier, secret int, choice planner.Choice) error {
	c := &m.secrets[secret]
	more, fitted := make([]float64, len(c.Size)), 0.0
	for j := range more {
		more[j] = 1
	}

	choice, others, err := m.relabelled(ctx, ref, choice)
	if err != nil {
		return err
	}

	// A text that could not have been chosen to fit the rows pays for nothing.
	if !hook.Unlooked && choice.Nats > 1 && !choice.Apart.None() {
		alone, errors, err := m.alone(ctx, ref, secret, choice)
		if err != nil {
			return err
		}
		nats, scattered, err := m.shortest(ctx, ref, secret, choice, max(slices.Max(alone), slices.Max(errors)))
		if err != nil {
			return err
		}
		for j, n := range alone {
			more[j] = math.Max(1, math.Min(nats[j], n)+others)
			fitted = math.Max(fitted, math.Sqrt(2*math.Max(0, math.Min(scattered[j], errors[j])-plain)))
		}
	}

	c.more, c.fitted = append(c.more, more), append(c.fitted, fitted)
	return nil
}

// alone counts, in each class, the rows of the reference that are alone with what a choice tells of them: those that
// say how many rows it may not have seen, and those that say by how many standard errors a choice may be off.
//
// What counts a row of the root is some combination of rows that belong to it. If it counts nobody of the reference,
// its values stand in no combination there, and a row that it counts has one that stands in none: on average there are
// as many of these as rows of the reference have a combination that nobody else of the class has [Good 1953].
//
// For standard errors that is taken where there are no more values of combinations than a single table could have with
// nobody alone, two rows for each. With more of them sums over a row's combinations can be made to fit every row by
// itself, and whoever is alone with its list of combinations counts.
func (m *Moments) alone(ctx context.Context, ref planner.Querier, secret int, choice planner.Choice) (unseen,
	errors []float64, err error) {
	negative, err := m.cut.Negative(ctx, ref, choice)
	if err != nil {
		return nil, nil, err
	}

	// Where signs differ, what sums to 0 need not be 0 in each combination.
	if choice.Combined.None() || negative {
		lists, err := m.cut.Alone(ctx, ref, secret, choice.Apart)
		return lists, lists, err
	}
	if unseen, err = m.cut.Alone(ctx, ref, secret, choice.Combined); err != nil {
		return nil, nil, err
	}
	values, err := m.cut.Distinct(ctx, ref, choice.Combined)
	if err != nil {
		return nil, nil, err
	}

	// Whoever has a combination alone has its list alone: where nobody has, lists say no less.
	few := 2*values <= slices.Min(m.secrets[secret].Size)
	if few && slices.Max(unseen) <= 1 {
		return unseen, unseen, nil
	}
	lists, err := m.cut.Alone(ctx, ref, secret, choice.Apart)
	if err != nil {
		return nil, nil, err
	}

	// A row with several such combinations counts for each, so that lists may say less.
	for j := range unseen {
		unseen[j] = math.Min(unseen[j], lists[j])
	}
	if few {
		return unseen, unseen, nil
	}
	return unseen, lists, nil
}

// relabelled is a choice with columns in the places of keys that are these in other words, if the reference has rows of
// their declared values alone: the groups are the columns', and so nothing of the keys' texts was chosen. What the
// texts may add is rows of other values. That a row has one is a condition that holds for no row of the reference, the
// same for all texts: one row more for each such key.
func (m *Moments) relabelled(ctx context.Context, ref planner.Querier, choice planner.Choice) (of planner.Choice,
	others float64, err error) {
	if choice.Column == nil {
		return choice, 0, nil
	}
	undeclared, err := m.cut.Undeclared(ctx, ref, choice)
	if err != nil || undeclared {
		return choice, 0, err
	}
	return *choice.Column, float64(len(choice.Relabelled)), nil
}

// shortest is the length of a choice in the shorter of its codes, for each class: its text; or the text that is left
// where values of few columns are sorted, and how these are. That speaks of the values that the reference has. All
// others are one row more, or as many as have a value that no other row has [Good 1953].
//
// The second code is not looked at where it can save nothing, most being all that is at stake.
func (m *Moments) shortest(ctx context.Context, ref planner.Querier, secret int, choice planner.Choice,
	most float64) (nats, scattered []float64, err error) {
	classes := len(m.secrets[secret].Size)
	nats, scattered = slices.Repeat([]float64{choice.Nats}, classes), slices.Repeat([]float64{choice.Scattered},
		classes)
	if choice.Sorted.Nats+1 >= math.Min(choice.Nats, most) {
		return nats, scattered, nil
	}

	groups, single := 0.0, 0.0
	others := slices.Repeat([]float64{1}, classes)
	for _, s := range choice.Sorted.Of {
		values, err := m.cut.Distinct(ctx, ref, s.Values)
		if err != nil {
			return nil, nil, err
		}
		alone, err := m.cut.Alone(ctx, ref, secret, s.Values)
		if err != nil {
			return nil, nil, err
		}
		if hook.SortedForFree {
			values = 0
		}
		groups, single = groups+(values+s.Beside)*math.Log1p(s.Into), single+(values+s.Beside)*math.Ln2
		for j, n := range alone {
			others[j] += n
		}
	}

	// The shorter of both codes is the bound.
	for j := range classes {
		nats[j] = math.Min(nats[j], choice.Sorted.Nats+groups+others[j])
		scattered[j] = math.Min(scattered[j], choice.Sorted.Scattered+single+others[j])
	}
	return nats, scattered, nil
}

// Trusted refuses an aggregate that is bounded by the distribution of the reference's rows where many of them may have
// been chosen: by its own expressions, the keys and the conditions. What stands beside it says nothing of which rows it
// is of.
func (m *Moments) Trusted(secret, aggregate int) error {
	c := &m.secrets[secret]
	for _, text := range m.texts.By(aggregate) {
		for j, size := range c.Size {
			if c.more[text][j] > 8+size/50 {
				return sqlstate.New(sqlstate.ModelUnfit, "the statement tells too many single rows of the reference "+
					"apart, so that these say nothing of percentiles and distinct values").
					WithHint("Use fewer constants and operations, or columns whose values are shared by many rows.")
			}
		}
	}
	return nil
}
