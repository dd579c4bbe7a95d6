package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"text/tabwriter"

	fitting "fugu/fit"
	"fugu/parser"
	"fugu/policy"
)

// fit prepares models and reports how well they fit.
func fit(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	asJSON, file := false, ""
	var statements stringList
	fs, path, err := flags("fit", args, stderr, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print JSON")
		fs.Var(&statements, "statement", "`SQL` of a statement to prepare beside the standard ones; may be repeated")
		fs.StringVar(&file, "f", "", "`file` of statements to prepare, each ended by a semicolon")
	})
	if err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usageError{errors.New("statements are given with -statement or -f")}
	}
	more, err := statementsOf(file)
	if err != nil {
		return err
	}
	statements = append(statements, more...)

	h, err := openNoisy(ctx, path)
	if err != nil {
		return err
	}
	defer h.close()

	reports, err := h.fitAll(ctx, statements, stderr)
	if err != nil {
		return err
	}

	// Findings are told by the exit status, too, for scripts.
	findings := 0
	for _, r := range reports {
		findings += r.Findings()
		if !asJSON {
			err = errors.Join(err, printFit(stdout, r))
		}
	}
	if asJSON {
		err = printJSON(stdout, reports)
	}
	if err == nil && findings > 0 {
		err = fmt.Errorf("%d findings", findings)
	}
	return err
}

// fitAll prepares the models of every policy, with the statements that are about its tables.
func (h *house) fitAll(ctx context.Context, statements []string, stderr io.Writer) ([]fitting.Report, error) {
	more, err := byPolicy(ctx, h, statements)
	if err != nil {
		return nil, err
	}
	var reports []fitting.Report
	for _, p := range h.policies {
		room := h.room(p.Database)
		r, err := fitting.Run(ctx, fitting.Work{Dataset: room.snapshot.Snapshot, Reader: room.reader, Policy: p,
			Dir: h.config.Models, Statements: more[p], Progress: progress(stderr, p.Dataset)})
		if err != nil {
			return nil, fmt.Errorf("fitting dataset %s: %w", p.Dataset, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// statementsOf reads a file of statements; there are none where there is no file.
func statementsOf(file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError{err}
	}
	statements, err := parser.Split(string(text))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return statements, nil
}

// byPolicy tells which policy each statement is about, by asking in every database that has one.
func byPolicy(ctx context.Context, h *house, statements []string) (map[*policy.Policy][]string, error) {
	out := map[*policy.Policy][]string{}
	rooms := slices.SortedFunc(slices.Values(h.rooms), func(a, b *room) int {
		return cmp.Compare(a.database, b.database)
	})

	// A statement that is about nobody's tables fails in every database, each time with a reason of its own.
	for _, sql := range statements {
		var found []*policy.Policy
		var failed []error
		for _, r := range rooms {
			asked, err := r.snapshot.Ask(ctx, r.reader, nil, sql)
			if err != nil {
				failed = append(failed, err)
			} else if slices.Contains(h.policies, asked.Policy) {
				found = append(found, asked.Policy)
			}
		}

		switch {
		case len(found) == 1:
			out[found[0]] = append(out[found[0]], sql)
		case len(found) > 1:
			return nil, fmt.Errorf("%s: both %s and %s protect such tables, in databases of their own: list the "+
				"statement under fit in one of the policies", sql, found[0].Dataset, found[1].Dataset)
		case len(failed) > 0:
			return nil, fmt.Errorf("%s: %w", sql, errors.Join(failed...))
		default:
			return nil, fmt.Errorf("%s: no policy of this configuration protects its tables", sql)
		}
	}
	return out, nil
}

// progress shows how far a fit has come: a bar on a terminal, lines otherwise.
func progress(w io.Writer, dataset string) fitting.Progress {
	line := newProgressLine(w)
	return func(done, total int, statement string) {
		statement = fitting.Brief(statement)
		if !line.fits() {
			if statement != "" {
				fmt.Fprintf(w, "fugu fit: %s %d/%d %s\n", dataset, done+1, total, statement)
			}
			return
		}
		part := bar(float64(done) / float64(max(1, total)))
		line.show(fmt.Sprintf("%s %s %d/%d %s", dataset, part, done, total, statement), done == total)
	}
}

// printFit writes a report for people.
func printFit(w io.Writer, r fitting.Report) error {
	fmt.Fprintf(w, "%s dataset %s: %d statements over the references prepared in %s (%d asked now)\n", green(w, "ok"),
		r.Dataset, r.Parts, r.File, r.Asked)
	fmt.Fprintf(w, "   content %s\n", r.Hash)
	for _, ref := range r.References {
		fmt.Fprintf(w, "   reference %s: %d rows\n", ref.Table, ref.Rows)
	}
	for _, s := range r.Secrets {
		fmt.Fprintf(w, "   secret %s of %s (%d rows): %s\n", s.Secret, s.Table, s.Rows, s.Describe())
	}

	// Tables with twins have no models.
	if len(r.Statements) == 0 {
		fmt.Fprintln(w, "   nothing is modelled: no table of the dataset is answered with noise from a reference")
		return nil
	}

	// What was prepared comes first, then how good it is, and at last what is not there.
	if err := printQualities(w, r.Statements); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, line := range r.Remarks() {
		fmt.Fprintf(w, "   note: %s\n", line)
	}

	for _, s := range r.Statements {
		for _, f := range s.Findings {
			fmt.Fprintf(w, "%s %s: %s: %s\n", red(w, "not prepared"), s.Statement, f.Code, f.Message)
			if f.Hint != "" {
				fmt.Fprintf(w, "   %s\n", f.Hint)
			}
		}
	}
	return nil
}

// printQualities writes a line for each statement and secret: how well the model fits there.
func printQualities(w io.Writer, statements []fitting.Statement) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nstatement\tsecret\tvalues\tempty cells\tskewness\tkurtosis\toff "+
		"normal\tgaussian\tcovariances\tmovement (sd)")
	for _, s := range statements {
		name := fitting.Brief(s.Statement)

		// A statement without secrets to be told has a line as well, or it would look forgotten.
		if len(s.Qualities) == 0 {
			fmt.Fprintf(t, "%s\t\t%d\t\t\t\t\t\t\t\n", name, s.Components)
		}

		for _, q := range s.Qualities {
			ratio, known := "unbounded", short(q.Movement)+" ± "+short(q.Missed)
			if q.CovarianceRatio != nil {
				ratio = "x" + short(*q.CovarianceRatio)
			}
			fmt.Fprintf(t, "%s\t%s\t%d\t%d of %d\t%s\t%s\t%s\t%s\t%s\t%s\n", name, q.Secret, s.Components,
				s.EmptyCount, s.Cells, round(q.Skewness), round(q.Kurtosis), round(q.Off), q.Gaussian, ratio, known)
			name = "" // a statement is named once
		}
	}
	return t.Flush()
}

// round writes a number with three decimals, or what is smaller as it is.
func round(x float64) string {
	if math.Abs(x) < 0.0005 && x != 0 {
		return short(x)
	}
	return fmt.Sprintf("%.3f", x)
}
