package console

import (
	"context"
	"net/http"
	"strings"
)

// typed is what the page of a statement's noise shows.
type typed struct {
	Statement string
	Curve     *Curve // nil: nothing was asked
	Charts    []Chart
	Free      []drawnTwin
}

// noiseForm is where a statement is typed.
func (c *console) noiseForm(w http.ResponseWriter, r *http.Request) {
	c.render(w, http.StatusOK, "noise", c.signed(view{Title: "Noise", Body: typed{}}, r.URL.Path))
}

// noise prices a statement that was typed. It is in the body of the request, so that no address or log has it; and one
// statement is priced at a time, within the limits that searches for noise have in all.
func (c *console) noise(w http.ResponseWriter, r *http.Request) {
	say := func(status int, v view) {
		v.Title = "Noise"
		c.render(w, status, "noise", c.signed(v, r.URL.Path))
	}

	// What is too long, or empty, is said before anything is worked out.
	r.Body = http.MaxBytesReader(w, r.Body, statementBytes)
	if err := r.ParseForm(); err != nil {
		say(http.StatusRequestEntityTooLarge, view{Alert: "The statement is too long.",
			Hint: "Up to 16 kB are read here; fugu preview takes longer ones.", Body: typed{}})
		return
	}
	statement := strings.TrimSpace(r.PostForm.Get("statement"))
	if statement == "" {
		say(http.StatusBadRequest, view{Alert: "There is no statement.", Hint: "Type one SELECT.", Body: typed{}})
		return
	}

	select {
	case c.pricing <- struct{}{}:
		defer func() { <-c.pricing }()
	default:
		say(http.StatusTooManyRequests, view{Alert: "Another statement is being priced.",
			Hint: "Send it again in a moment.", Body: typed{Statement: statement}})
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), statementTime)
	defer stop()
	curve, err := c.Source.Curve(ctx, statement)
	if err != nil {
		v := c.failed(err)
		v.Body = typed{Statement: statement}
		say(http.StatusUnprocessableEntity, v)
		return
	}

	// What twins answer has no noise of its own: how far their counts are off is drawn in its place.
	shown := typed{Statement: statement, Curve: &curve, Charts: noiseCharts(curve)}
	for _, t := range curve.Free {
		shown.Free = append(shown.Free, drawnTwin{t, groupChart(t)})
	}
	say(http.StatusOK, view{Body: shown})
}
