package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Position is a place in a file; lines and columns count from 1, columns in characters.
type Position struct {
	Line, Column int
}

// Finding is one thing that is wrong with a file, or with an environment variable (then File is its name and Line 0).
type Finding struct {
	File         string
	Line, Column int
	Message      string // what is wrong
	Hint         string // what to write instead; may be empty
}

// String is the finding on one line: where it is, what is wrong, and what to write instead.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	b.WriteString(": ")
	b.WriteString(f.Message)
	if f.Hint != "" {
		b.WriteString("; ")
		b.WriteString(f.Hint)
	}
	return oneLine(b.String())
}

// oneLine writes control characters, which a quoted key can hold, as escapes.
func oneLine(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if unicode.IsControl(c) {
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// Findings is an error that holds every finding at once, one a line.
type Findings []Finding

// Error is all findings, one a line.
func (fs Findings) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Misfit is an error about what stands at a place in a file, such as what a database has to say of it.
type Misfit struct {
	File string
	At   Position
	Err  error
}

// Error is the place and the error.
func (m *Misfit) Error() string {
	return fmt.Sprintf("%s:%d:%d: %v", m.File, m.At.Line, m.At.Column, m.Err)
}

// Unwrap is the error without its place.
func (m *Misfit) Unwrap() error { return m.Err }

// Report collects what is wrong with one file.
type Report struct {
	File string
	// Withhold keeps what stands in the file out of messages, for files that may hold passwords. Keys are still named
	// where they look like one.
	Withhold bool
	findings Findings
}

// Add notes a finding at a place in the file. The hint says what to write instead; it may be empty.
func (r *Report) Add(at Position, hint, format string, args ...any) {
	r.AddFinding(Finding{File: r.File, Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, args...),
		Hint: hint})
}

// AddFinding notes a finding of any origin.
func (r *Report) AddFinding(f Finding) { r.findings = append(r.findings, f) }

// Err returns the findings in the order of the file, or nil.
func (r *Report) Err() error {
	if len(r.findings) == 0 {
		return nil
	}
	return r.findings.sorted()
}

func (fs Findings) sorted() Findings {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return fs
}

// Join merges errors that are Findings into one, sorted by file and place; nil where there are none. An error of
// another kind becomes a finding of its own, without a place.
func Join(file string, errs ...error) error {
	var all Findings
	for _, err := range errs {
		var fs Findings
		switch {
		case err == nil:
		case errors.As(err, &fs):
			all = append(all, fs...)
		default:
			all = append(all, Finding{File: file, Message: err.Error()})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all.sorted()
}
