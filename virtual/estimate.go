package virtual

import (
	"fmt"

	"fugu/answer"
	"fugu/planner"
)

// Estimate are the rows of fugu.estimate: of each value of the last answer what may be believed of it.
func Estimate(e answer.Estimated) (rows [][]planner.Value) {
	for _, c := range e.Cells {
		basis := "answers"
		switch {
		case c.Public:
			basis = "public"
		case e.Prior:
			basis = "answers and a model"
		}
		sd, lower, upper := c.Shown()
		rows = append(rows, []planner.Value{integer(e.Answer.ID), text(c.Column), text(c.GroupKey), text(c.Value),
			text(sd), text(lower), text(upper), text(basis), integer(int64(len(e.From)))})
		if e.Answer.ID == 0 { // all of it is public, and nothing was charged
			rows[len(rows)-1][0] = planner.Value{Null: true}
		}
	}
	return rows
}

// NoiseLaw are the rows of fugu.noise_law: the parts of the noise of each value.
func NoiseLaw(id int64, parts []answer.LawPart) (rows [][]planner.Value) {
	for _, p := range parts {
		rows = append(rows, []planner.Value{integer(id), text(p.Column), text(p.Group), text(p.Source), text(p.Law),
			float(p.Scale), float(p.Along), float(p.Variance)})
	}
	return rows
}

// EstimateNotice says what stands in a result in place of what was released.
func EstimateNotice(e answer.Estimated) (message, hint string) {
	from := "what was released"
	if e.Prior {
		from += " and the reference"
	}
	return fmt.Sprintf("the values are estimates by a model, from %s (answers %d): no row shows them, and nothing was "+
			"charged for them beside the answer", from, len(e.From)),
		"SELECT * FROM fugu.estimate has their standard deviations; RESET fugu.answer shows what was released."
}

// UnsolvedNotice says that a result has what was released where estimates were asked for.
func UnsolvedNotice() (message, hint string) {
	return "the values are those released, and no estimates: they contradict the model by very many standard " +
			"deviations",
		"The policy's owner can look at the reference and at the range of the secrets; estimates: {prior: none} is " +
			"without both."
}
