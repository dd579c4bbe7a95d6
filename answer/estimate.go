package answer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"fugu/estimate"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/policy"
	"fugu/quote"
	"fugu/reuse"
	"fugu/sqlstate"
)

// Estimated is what an analyst may believe of an answer's values, given all that was released. It is made of that, of
// the policy and of the reference: it reads no protected row, and charges nothing.
type Estimated struct {
	Answer ledger.Answer
	Cells  []ToldCell // means as values, in the order of the answer
	From   []int64    // the answers that it is made of, the question's own first
	Prior  bool       // the reference has a part in it

	byComponent []ledger.Cell // estimates of the release's components, as results show them
	stored      quote.Stored
}

// Estimable refuses a question of which there would be no estimates, before it is charged: nothing but the policy and
// the statement decides that.
func (q *Question) Estimable(ctx context.Context) error {
	if q.Request.Policy.Estimates == policy.NoEstimates {
		return sqlstate.New(sqlstate.NotAllowed, "the policy of dataset %s makes no estimates",
			q.Request.Policy.Dataset).
			WithHint("RESET fugu.answer; or the policy's owner can write estimates: {prior: reference}.")
	}
	m, err := q.Measure(ctx)
	if err != nil {
		return nil // the answer says what is wrong
	}
	return estimable(m)
}

func estimable(m *quote.Quote) error {
	if m.Width > estimate.MaxSize {
		return sqlstate.New(sqlstate.ProgramLimitExceeded, "estimates take %d values at most, and the statement "+
			"asks for %d", estimate.MaxSize, m.Width).
			WithHint("Group by fewer columns; or RESET fugu.answer.")
	}
	return nil
}

// Estimates computes what may be believed of an answer to the question.
func (q *Question) Estimates(ctx context.Context, a ledger.Answer) (out Estimated, err error) {
	out.Answer = a
	if out.stored, err = stored(a); err != nil {
		return out, err
	}

	m, err := q.Measure(ctx)
	if err != nil {
		return out, err
	}

	// Where everything is public there is nothing to estimate.
	var cells []ledger.Cell
	if m.Width > 0 {
		if err := estimable(m); err != nil {
			return out, err
		}
		if cells, err = q.estimatedCells(ctx, m, &out); err != nil {
			return out, err
		}
	}

	out.byComponent = cells
	out.Cells, err = q.inOrder(out.stored, cells)
	return out, err
}

// Arrays are those of the answer with the estimates in the places of what was released.
func (e Estimated) Arrays(q *Question) ([][]byte, error) {
	values := make([]string, len(e.byComponent))
	for k, c := range e.byComponent {
		values[k] = c.Value
	}
	return q.arrays(e.Answer, e.stored, values, e.byComponent)
}

// estimatedCells are the estimates by component.
func (q *Question) estimatedCells(ctx context.Context, m *quote.Quote, out *Estimated) ([]ledger.Cell, error) {
	own, err := q.witness(out.Answer, out.stored, m)
	if err != nil {
		return nil, err
	}
	var laws []estimate.Estimate
	// The posterior is a search like that of a quote, and waits for its turn with them.
	err = q.desk.Searches.Run(ctx, q.asked.User, m.Width, func(ctx context.Context, _ func()) (err error) {
		var prior *estimate.Prior
		if q.Request.Policy.Estimates == policy.ReferenceEstimates {
			if prior, err = q.Request.Prior(ctx, m); err != nil {
				return err
			}
		}
		out.From, out.Prior = []int64{own.ID}, prior != nil

		// An answer that was computed from others has errors of another kind, and no other is taken in beside it.
		if out.stored.Past != nil {
			laws, err = estimatesOfSums(own.Values, out.stored.Past.Errors, prior)
			return err
		}

		// Sums that are public are facts: they hold exactly, whatever the noise.
		p := estimate.Problem{Size: m.Width, Prior: prior, Answers: []estimate.Answer{observed(own, nil)}}
		for _, s := range m.Sums {
			total, _ := s.Total.Float64()
			p.Facts = append(p.Facts, estimate.Fact{Of: s.Components, Total: total})
		}
		if err := q.addWitnesses(ctx, m, own, &p, out); err != nil {
			return err
		}
		if laws, err = p.Solve(); err != nil {
			return unsolved(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	cells := make([]ledger.Cell, m.Width)
	for k, e := range laws {
		low, high := e.Interval(q.asked.Confidence)
		cells[k] = ledger.Cell{Column: m.Labels[k].Column, GroupKey: m.Labels[k].Group, SD: e.SD(), Lower: low,
			Upper: high, Value: valueText(e.Mean(), e.SD(), m.Integer[k])}
	}
	return cells, nil
}

// ErrUnsolved is in the error of an answer that contradicts the model so much that it has no estimates.
var ErrUnsolved = errors.New("no estimates")

// unsolved is the error of an answer that has no estimates, which the answer itself and public numbers decide.
func unsolved(cause error) error {
	return sqlstate.New(sqlstate.ModelUnfit, "the answer has no estimates: it contradicts the model by very many "+
		"standard deviations").
		WithHint("RESET fugu.answer: the statement then shows what was released, at no cost.").
		Because(fmt.Errorf("%w: %w", ErrUnsolved, cause))
}

// estimatesOfSums are the estimates of an answer that was computed from others. Nobody has written down what the errors
// of its values have in common, so that each is believed by itself.
func estimatesOfSums(values []float64, errs []quote.PastError, prior *estimate.Prior) (out []estimate.Estimate,
	err error) {
	if len(errs) != len(values) {
		return nil, errMisfit
	}
	for k, v := range values {
		p := estimate.Problem{Size: 1, Prior: prior.Only(k), Answers: []estimate.Answer{{Values: []float64{v},
			Of: []int{0}, Noise: estimate.Noise{Own: []estimate.Own{{Normal: errs[k].SD()}}}}}}
		of, err := p.Solve()
		if err != nil {
			return nil, unsolved(err)
		}
		out = append(out, of...)
	}
	return out, nil
}

// addWitnesses takes in what earlier answers tell of the question's query vectors, as many values as there is room for.
func (q *Question) addWitnesses(ctx context.Context, m *quote.Quote, own reuse.Witness, p *estimate.Problem,
	out *Estimated) error {
	// Of a vector that stands twice the first is taken: both are the same number.
	place := map[string]int{}
	for k, v := range m.Vectors {
		if _, known := place[v]; !known && v != "" {
			place[v] = k
		}
	}
	if len(place) == 0 {
		return nil
	}
	others, err := q.desk.past.Witnesses(ctx, shareBook{q}, q.Request.Policy, q.standing.Epoch, place)
	if err != nil {
		return err
	}

	// Newest first, so that what has no room is the oldest.
	room := estimate.MaxValues - m.Width
	for _, w := range others {
		if w.ID == own.ID {
			continue
		}
		a := observed(w, place)
		if room -= len(a.Values); room < 0 {
			break
		}
		p.Answers, out.From = append(p.Answers, a), append(out.From, w.ID)
	}
	return nil
}

// witness is the answer itself, with the law of its noise: as it was kept with it, or as the quote has it, if that is
// the noise that the answer has.
func (q *Question) witness(a ledger.Answer, s quote.Stored, m *quote.Quote) (w reuse.Witness, err error) {
	var release mechanism.Release
	if err := release.UnmarshalBinary(s.Release); err != nil {
		return w, fmt.Errorf("reading the stored answer %d: %w", a.ID, err)
	}
	w.ID = a.ID
	if w.Values, err = release.Numbers(); err != nil {
		return w, fmt.Errorf("reading the stored answer %d: %w", a.ID, err)
	}
	if len(w.Values) != m.Width {
		return w, fmt.Errorf("the stored answer %d %w", a.ID, errMisfit)
	}
	if s.Evidence != nil {
		w.Evidence = *s.Evidence
		return w, w.Evidence.Law.Check(m.Width)
	}

	// Not every answer has its evidence kept with it: the quote speaks for one if it would draw the same noise.
	for k, c := range a.Cells {
		if s.Past == nil && c.SD != m.Calibration.SD[k] {
			return w, errOtherNoise
		}
	}
	w.Evidence = quote.Evidence{Law: m.Calibration.Noise.Law(), Vectors: m.Vectors}
	return w, w.Evidence.Law.Check(m.Width)
}

// errOtherNoise says that the noise of an answer is not known any more.
var errOtherNoise = sqlstate.New(sqlstate.ModelUnfit, "the reference has changed since the answer was given, and "+
	"nothing says what noise the answer has").
	WithHint("The policy's owner can write estimates: {prior: none}, so that the law is kept with answers to come.")

// observed are the values of an answer about vectors, by their places; nil: all of them, in their own.
func observed(w reuse.Witness, place map[string]int) (out estimate.Answer) {
	law := w.Evidence.Law
	var kept []int

	// Rounding to a step is taken for normal noise of the variance of a uniform value, step²/12.
	for i := range w.Values {
		k := i
		if place != nil {
			var about bool
			if k, about = place[w.Evidence.Vectors[i]]; !about {
				continue
			}
		}
		kept = append(kept, i)
		o := law.Own[i]
		out.Of, out.Values = append(out.Of, k), append(out.Values, w.Values[i])
		out.Noise.Own = append(out.Noise.Own, estimate.Own{Laplace: math.Hypot(o.Laplace, o.Extra),
			Normal: math.Hypot(o.Sigma, o.Step/math.Sqrt(12))})
	}

	// Noise that values share runs along those that were kept.
	for _, s := range law.Shared {
		line := estimate.Line{Laplace: s.Laplace, Normal: s.Sigma}
		for _, i := range kept {
			line.Along = append(line.Along, s.Along[i])
		}
		out.Noise.Shared = append(out.Noise.Shared, line)
	}

	return out
}

// valueText writes an estimate as results show it: two digits of its standard deviation say enough.
func valueText(mean, sd float64, integer bool) string {
	if integer || !(sd > 0) {
		decimals := 0
		if !integer {
			decimals = -1
		}
		return strconv.FormatFloat(mean, 'f', decimals, 64)
	}
	digits := 1 - int(math.Floor(math.Log10(sd)))
	return strconv.FormatFloat(mean, 'f', min(max(digits, 0), 15), 64)
}
