package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/term"

	"fugu/internal/nearest"
	"fugu/internal/setup"
	"fugu/policy"
)

// prompt asks the person at a terminal.
type prompt struct {
	in  *bufio.Reader // nil: nobody is there
	out io.Writer
}

// newPrompt asks only where both ends are a terminal's.
func newPrompt(in *os.File, out io.Writer) *prompt {
	if !term.IsTerminal(int(in.Fd())) {
		return &prompt{out: out}
	}
	return &prompt{in: bufio.NewReader(in), out: out}
}

// ask returns what somebody writes, or what is there if nothing is written.
func (p *prompt) ask(question, there string) (string, error) {
	if there != "" {
		question += " [" + there + "]"
	}
	if !strings.HasSuffix(question, "?") {
		question += ":"
	}
	fmt.Fprint(p.out, question+" ")
	line, err := p.in.ReadString('\n')
	if err != nil && line == "" {
		return "", errors.New("nothing was written: nothing is done")
	}
	return cmp.Or(strings.TrimSpace(line), there), nil
}

// agree asks for yes or no; no is what an empty line says.
func (p *prompt) agree(question string) (bool, error) {
	word, err := p.ask(question+" (yes or no)", "no")
	return strings.HasPrefix(strings.ToLower(word), "y"), err
}

// complete checks what fugu init was told, and asks for the rest of it.
func (o *initFlags) complete(ctx context.Context, p *prompt, db *pgx.Conn, c *setup.Catalog) error {
	if p.in == nil {
		if err := o.missing(); err != nil {
			return err
		}
	} else if err := (&interview{prompt: p, initFlags: o, catalog: c, db: db}).run(ctx); err != nil {
		return err
	}
	o.answers = cmp.Or(o.answers, string(policy.FromTwin))

	// What flags say in words goes where it has types.
	ch := &o.choices
	ch.Rows, ch.ShowRows, ch.IndependentRows = o.rows, o.showRows, o.independentRows
	ch.Answers, ch.Drop, ch.Analysts = policy.Answers(o.answers), o.drop, o.analysts
	if ch.Answers != policy.FromTwin && ch.Answers != policy.ByAnswerNoise {
		return usageError{fmt.Errorf("-answers is twin or noise, not %q", o.answers)}
	}
	var err error
	if ch.Table, err = o.tableOf("-table", o.table, c); err != nil {
		return err
	}

	// Names are looked up in the catalog: a mistake is found here and not by PostgreSQL.
	for _, name := range o.open {
		t, err := o.tableOf("-open", name, c)
		if err != nil {
			return err
		}
		ch.Open = append(ch.Open, t)
	}

	// A reference without a table is one of the table that has the secret.
	ch.References = map[policy.QualifiedName]policy.QualifiedName{}
	for _, pair := range o.references {
		of, name, two := strings.Cut(pair, "=")
		own := ch.Table
		if !two {
			name = of
		} else if own, err = o.tableOf("-reference", of, c); err != nil {
			return err
		}
		if ch.References[own], err = o.tableOf("-reference", name, c); err != nil {
			return err
		}
	}

	if _, ok := ch.References[ch.Table]; !ok && ch.Answers == policy.ByAnswerNoise {
		return usageError{errors.New("-answers noise needs a -reference: a table of public or held-out rows with the " +
			"same columns, by which noise is worked out; a twin (-answers twin) needs none")}
	}
	return nil
}

// missing says which flags there have to be where nobody can be asked, all at once.
func (o *initFlags) missing() error {
	var list []string
	for _, f := range []struct {
		there      bool
		name, what string
	}{
		{o.table != "", "-table", "the table that has the secret"},
		{o.choices.Predicate != "", "-secret", "a condition: which share of the rows satisfies it is secret"},
		{o.choices.From != "", "-from", "the least share that everybody may take for possible"},
		{o.choices.To != "", "-to", "the greatest share that everybody may take for possible"},
		{o.choices.Within != "", "-within", "how close two shares are that nobody may tell apart"},
		{o.rows > 0, "-rows", "the public number of rows"},
		{len(o.analysts) > 0, "-analyst", "who may ask"},
	} {
		if !f.there {
			list = append(list, fmt.Sprintf("  %-9s %s", f.name, f.what))
		}
	}

	// Somebody who calls this from a script wants to hear of all of them in one go.
	if len(list) == 0 {
		return nil
	}
	return usageError{errors.New("these are needed, as there is no terminal to ask at:\n" + strings.Join(list, "\n"))}
}

// tableOf reads the name of a table that there has to be.
func (o *initFlags) tableOf(flag, name string, c *setup.Catalog) (policy.QualifiedName, error) {
	q, err := policy.ParseName(name)
	if err != nil {
		return q, usageError{fmt.Errorf("%s: %w", flag, err)}
	}
	if c.Table(q) == nil {
		return q, usageError{fmt.Errorf("%s: there is no table %s in the database, but %s", flag, q, someTables(c, q))}
	}
	return q, nil
}

// someTables names the table that was meant, or the first of those that there are.
func someTables(c *setup.Catalog, meant policy.QualifiedName) string {
	var names []string
	for _, t := range c.Tables {
		names = append(names, t.QualifiedName.String())
	}
	const most = 8
	near := nearest.Of(meant.String(), names)
	switch {
	case near != "":
		return near
	case len(names) == 0:
		return "none at all that you may see: is it the right one?"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// showTables lists the tables that there are, with their keys and what they refer to.
func showTables(w io.Writer, c *setup.Catalog) {
	t := table{head: "table +rows key refers_to"}
	for _, x := range c.Tables {
		var to []string
		for _, r := range c.References {
			if r.From == x.QualifiedName && !slices.Contains(to, r.To.String()) {
				to = append(to, r.To.String())
			}
		}
		rows := "?"
		if x.Estimate >= 0 {
			rows = fmt.Sprintf("~%d", x.Estimate)
		}
		t.row(x.String(), rows, strings.Join(x.Key, ", "), strings.Join(to, ", "))
	}
	_ = t.write(w)
}
