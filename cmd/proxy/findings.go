package main

import (
	"cmp"
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"fugu/internal/finding"
	"fugu/internal/strictyaml"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/upstream"
)

// findings are what check has to say so far.
type findings struct {
	finding.List
	config string // the configuration's file
}

// place is where a finding is written.
type place struct {
	dataset, file string
	at            strictyaml.Position
}

// in is a place in a policy.
func (f *findings) in(p *policy.Policy, at policy.Position) place {
	return place{p.Dataset, p.Source, at}
}

// under is where a key of a policy stands, or the nearest section above it.
func (f *findings) under(p *policy.Policy, keys ...string) place {
	return f.in(p, locate(p.Source, keys...))
}

// setting is where a key of the configuration stands, or the nearest section above it.
func (f *findings) setting(keys ...string) place {
	return place{file: f.config, at: locate(f.config, keys...)}
}

// locate is where a key stands in a file, or would have to: at its beginning, where there is no section of it.
func locate(file string, keys ...string) strictyaml.Position {
	at := strictyaml.Locate(file, keys...)
	if at == (strictyaml.Position{}) {
		at = strictyaml.Position{Line: 1, Column: 1}
	}
	return at
}

func (f *findings) add(level finding.Level, at place, what, why, fix string) {
	f.List = append(f.List, finding.Finding{Level: level, Dataset: at.dataset, File: at.file, Line: at.at.Line,
		Column: at.at.Column, What: what, Why: why, Fix: fix})
}

// errTold is the error of a command that has told what is wrong already.
var errTold = errors.New("what is wrong has been told")

// fail takes in what check ended with: each of the findings that an error is made of, with its place.
func (f *findings) fail(err error) {
	switch e := err.(type) {
	case nil:
		return
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			f.fail(part)
		}
		return
	case *policy.Misfit:
		f.List = append(f.List, described(e.Err, place{file: e.File, at: e.At}))
		return
	case upstream.Holes:
		for _, hole := range e {
			f.add(finding.Error, f.setting("upstream"), hole.Message, "fugu serve starts only where every protected "+
				"table is there, the reader can read it, and no client could read it past Fugu",
				cmp.Or(hole.Hint, "take that right away from the role"))
		}
		return
	}

	// What is wrong with a file says where, whatever is told around it.
	var written strictyaml.Findings
	var misfit *policy.Misfit
	switch {
	case errors.As(err, &written):
		for _, w := range written {
			at := place{file: w.File, at: strictyaml.Position{Line: w.Line, Column: w.Column}}
			f.add(finding.Error, at, w.Message, "fugu serve starts with no file that it does not understand whole",
				cmp.Or(w.Hint, "write it as docs/policy.md and docs/operations.md have it"))
		}
	case errors.As(err, &misfit):
		f.List = append(f.List, described(err, place{file: misfit.File, at: misfit.At}))
	default:
		f.List = append(f.List, described(err, place{file: f.config}))
	}
}

// described is an error for people, with what a database said.
func described(err error, at place) finding.Finding {
	out := finding.Finding{Level: finding.Error, File: at.file, Line: at.at.Line, Column: at.at.Column,
		What: err.Error()}
	var e *sqlstate.Error
	if errors.As(err, &e) {
		out.Why, out.Fix = e.Detail, e.Hint
		if e.Cause != nil && out.Why == "" {
			out.Why = e.Cause.Error()
		}
	}
	out.Fix = hintOf(err, out.Fix)

	// An error of a server's, or of a file's, says what is wrong, and often no more.
	out.Why = cmp.Or(out.Why, "fugu serve would not start with it, or not answer as the policy says")
	out.Fix = cmp.Or(out.Fix, "mend what it says, and run fugu check again")
	return out
}

// tell writes all of it: as JSON, or as text in which errors go where errors are looked for.
func (f *findings) tell(stdout, stderr io.Writer, asJSON bool) error {
	if asJSON {
		if err := f.JSON(stdout); err != nil {
			return err
		}
	} else {
		// A shell that throws away what goes well still shows what does not.
		var good, bad finding.List
		for _, x := range f.List {
			if x.Level == finding.Error {
				bad = append(bad, x)
			} else {
				good = append(good, x)
			}
		}
		if err := errors.Join(good.Text(stdout, styleOf(stdout)), bad.Text(stderr, styleOf(stderr))); err != nil {
			return err
		}
	}

	// Whoever called is not to print an error below all that was told.
	if f.Failed() {
		return errTold
	}
	return nil
}

// styleOf is how text is laid out: for a terminal where it is one.
func styleOf(w io.Writer) finding.Style {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return finding.Style{}
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width == 0 {
		width = 80
	}
	return finding.Style{Width: min(width, 120), Colour: os.Getenv("NO_COLOR") == ""}
}
