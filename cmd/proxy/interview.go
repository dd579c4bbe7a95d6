package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/internal/finding"
	"fugu/internal/setup"
	"fugu/policy"
)

// interview asks at a terminal for what flags did not say. Each answer is looked at when it is given: what is wrong
// with it is said, and it is asked for again.
type interview struct {
	*prompt
	*initFlags
	catalog *setup.Catalog
	db      *pgx.Conn
	err     error // the first; behind it nothing more is asked
}

// run asks all there is to ask, and says what hangs on it.
func (v *interview) run(ctx context.Context) error {
	// First comes what is secret, and between which bounds.
	if v.table == "" {
		showTables(v.out, v.catalog)
	}
	v.fill(&v.table, "", "Which table has the secret?", "", v.isTable)
	v.fill(&v.choices.Predicate, "What is secret is a share of its rows: of those that satisfy a condition.",
		"Condition in SQL, such as supplier = 'X'", "", func(text string) error {
			name, err := policy.ParseName(v.table)
			if err != nil {
				return err
			}
			return isCondition(ctx, v.db, name, text)
		})
	v.fill(&v.choices.From, "A range in which everybody may know the share to lie. Do not fit it to the true share: "+
		"the range is public. A wide one, such as 0.05 to 0.60, tells little, and costs accuracy.", "Least share", "",
		between(0, 1))
	v.fill(&v.choices.To, "", "Greatest share", "", between(decimal(v.choices.From), 1))
	width := decimal(v.choices.To) - decimal(v.choices.From)
	v.fill(&v.choices.Within, "No two shares in the range that are so close can be told apart. Twice as far, twice "+
		"the noise.", "How close", short(min(0.02, width)), between(0, width))

	// Then how statements are answered, which changes what else there is to say.
	v.fill(&v.answers, "A twin answers any SQL, for one price, on a copy in which the share is blurred. With noise "+
		"each statement pays, and there has to be a table of public rows with the same columns (docs/choosing.md).",
		"Twin or noise?", string(policy.FromTwin), isWay)
	v.answers = strings.ToLower(v.answers)
	if v.answers == string(policy.ByAnswerNoise) && len(v.references) == 0 {
		name := ""
		v.fill(&name, "", "Which table has public or held-out rows like the table's?", "", v.isTable)
		v.references = append(v.references, name)
	}

	// The number of rows is public, and who may ask is to be named.
	v.askRows()
	v.askAnalysts()
	if v.err == nil && !v.showRows && v.answers == string(policy.FromTwin) {
		v.say("\nThe rows of a twin are rows of the table, with other keys.")
		v.showRows, v.err = v.agree("May analysts see them one by one?")
	}
	return v.err
}

// fill asks for what is not there yet, until it is something that is accepted.
func (v *interview) fill(into *string, say, question, there string, accept func(string) error) {
	if v.err != nil || *into != "" {
		return
	}
	if say != "" {
		v.say("\n" + say)
	}
	for v.err == nil {
		text, err := v.ask(question, there)
		if v.err = err; err != nil || text == "" {
			continue
		}
		if err := accept(text); err != nil {
			v.say(err.Error())
			continue
		}
		*into = text
		return
	}
}

// say prints a text that fits on a screen.
func (v *interview) say(text string) { fmt.Fprintln(v.out, finding.Wrap(text, 0, 0, screenWidth)) }

// isTable accepts the name of a table that there is.
func (v *interview) isTable(text string) error {
	name, err := policy.ParseName(text)
	if err == nil && v.catalog.Table(name) == nil {
		err = fmt.Errorf("there is no table %s in the database, but %s", name, someTables(v.catalog, name))
	}
	return err
}

// isWay accepts the two ways to answer.
func isWay(text string) error {
	switch policy.Answers(strings.ToLower(text)) {
	case policy.FromTwin, policy.ByAnswerNoise:
		return nil
	}
	return errors.New("write twin or noise")
}

// between accepts decimal numbers of an interval, without its lower end.
func between(low, high float64) func(string) error {
	return func(text string) error {
		// As decimals are written, and a range is: what is as wide as the whole of it is not beyond it.
		x, err := share(text)
		if _, written := finite(strings.TrimSuffix(text, "%")); written == nil && err != nil {
			return err // in percent, say
		}
		if err != nil || !(x > low && x <= high+1e-12) {
			return fmt.Errorf("write a number above %s and at most %s, with a point, such as %s", short(low),
				short(high), short((low+high)/2))
		}
		return nil
	}
}

// decimal is the number that a text was accepted for.
func decimal(text string) float64 {
	x, _ := strconv.ParseFloat(text, 64)
	return x
}

// askRows asks for the public number of rows. What PostgreSQL estimates is shown to who may see it, and is no default.
func (v *interview) askRows() {
	if v.err != nil || v.rows != 0 {
		return
	}
	hint := ""
	if name, err := policy.ParseName(v.table); err == nil {
		if t := v.catalog.Table(name); t != nil && t.Estimate >= 0 {
			hint = fmt.Sprintf(" PostgreSQL takes it to have about %d.", t.Estimate)
		}
	}
	text := ""
	v.fill(&text, "The number of rows will be public, and a twin needs the true one."+hint, "Number of rows", "",
		func(text string) (err error) {
			if v.rows, err = strconv.ParseInt(text, 10, 64); err != nil || v.rows < 1 {
				return errors.New("write a whole number above 0")
			}
			return nil
		})
}

// askAnalysts asks who may ask, in one line.
func (v *interview) askAnalysts() {
	if v.err != nil || len(v.analysts) > 0 {
		return
	}
	text := ""
	v.fill(&text, "", "Who may ask? Names, with commas", "", func(text string) error {
		for _, name := range strings.Split(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				v.analysts = append(v.analysts, name)
			}
		}
		if len(v.analysts) == 0 {
			return errors.New("write at least one name")
		}
		return nil
	})
}
