package pipeline

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"fugu/answer"
	"fugu/planner"
	"fugu/virtual"
	"fugu/wire"
)

// lastAsked is the question of the session's last answer, as far as it takes to ask it again; the zero value is none.
type lastAsked struct {
	statement *statement
	formats   []int16
	values    [][]byte
	set       settings
	contents  []string
}

// remember keeps what was asked, of a binding that lasts.
func (s *statement) remember(b wire.Binding, set settings, contents []string) {
	s.session.asked = lastAsked{s, b.Formats, b.Values, set, contents}
}

// lasting is a binding that may be kept: the values of one are the wire's, and last no longer than the statement.
func lasting(formats []int16, values [][]byte) wire.Binding {
	b := wire.Binding{Formats: slices.Clone(formats), Values: make([][]byte, len(values))}
	for i, v := range values {
		b.Values[i] = bytes.Clone(v)
	}
	return b
}

// question is the question of the session's last answer; nil: there is none. What it reads is public: the reader's
// right now is as good as the snapshot's of then.
func (s *session) question(ctx context.Context) (*answer.Question, error) {
	a := s.asked
	if a.statement == nil {
		return nil, nil
	}
	return a.statement.question(ctx, wire.Binding{Formats: a.formats, Values: a.values}, a.set, s.engine.desk.Reader,
		a.contents)
}

// estimates are the rows of fugu.estimate.
func (s *session) estimates(ctx context.Context) ([][]planner.Value, error) {
	q, err := s.question(ctx)
	if q == nil || err != nil {
		return nil, err
	}
	e, err := q.Estimates(ctx, s.last.Answer)
	return virtual.Estimate(e), err
}

// noiseLaw are the rows of fugu.noise_law.
func (s *session) noiseLaw(ctx context.Context) ([][]planner.Value, error) {
	q, err := s.question(ctx)
	if q == nil || err != nil {
		return nil, err
	}
	parts, err := q.NoiseLaw(ctx, s.last.Answer)
	return virtual.NoiseLaw(s.last.Answer.ID, parts), err
}

// estimated puts estimates into a result in place of what was released, and says so. Of an answer that has none, which
// is paid for, the result is what was released, and a notice says that.
func estimated(ctx context.Context, q *answer.Question, bound *wire.Bound, told answer.Told) (err error) {
	e, err := q.Estimates(ctx, told.Answer)
	if errors.Is(err, answer.ErrUnsolved) {
		message, hint := virtual.UnsolvedNotice()
		bound.Notices = append(bound.Notices, wire.Notice{Message: "fugu: " + message, Hint: hint})
		return nil
	}
	if err != nil {
		return err
	}
	message, hint := virtual.EstimateNotice(e)
	bound.Notices = append(bound.Notices, wire.Notice{Message: "fugu: " + message, Hint: hint})
	bound.Values, err = e.Arrays(q)
	return err
}
