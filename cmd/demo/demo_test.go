package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fugu/test/command"
)

// The demonstration runs on generated data, and shows what it says it shows: every statement of either half with its
// true values, what the twin tells of them near the truth, and what each side has cost.
func TestDemo(t *testing.T) {
	binary, err := command.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	d := demo{out: &out, binary: binary}
	if err := d.run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if matches, _ := filepath.Glob(filepath.Join(d.dir, "*")); len(matches) > 0 {
		t.Errorf("it leaves %v", matches)
	}

	noise, twin, ok := strings.Cut(out.String(), "== A twin")
	if !ok {
		t.Fatalf("there is no second half:\n%s", &out)
	}
	for _, s := range statements {
		if !strings.Contains(noise, s.say+"\n") ||
			s.twin != "" && !strings.Contains(twin, ". "+s.twin+"\n   "+s.sql+";") {
			t.Errorf("%s is not where it belongs", s.sql)
		}
	}
	for _, s := range unanswerable {
		if strings.Contains(noise, s.sql) || !strings.Contains(twin, "   "+s.sql+";\n   with noise: ERROR:  ") {
			t.Errorf("%s is not where it belongs", s.sql)
		}
	}
	for _, line := range []string{
		// The secret with noise of some 2,492 rows, which is below zero once in three hundred runs.
		`(?m)^    count +\d+ +-?\d+ +2\d\d\d\.\d+$`,
		`(?m)^ +Female +count +\d+ +-?\d+ +[\d.]+% +\d+ +[\d.]+%$`,      // true, noise, twin
		`(?m)^ +Sales +count +\d+ +refused +\d+ +[\d.]+%$`,              // and what noise refuses
		`(?m)^ +1 row: epsilon`,                                         // the preview
		`its twin has 35222 rows, copies of \d+ .*charged epsilon 1,`,   // the build
		`noise: epsilon [\d.]+ of 20 for 10 statements; 5 were refused`, // the bill
		`twin:  epsilon 1\.00, when it was built; these \d+ statements`,
	} {
		if !regexp.MustCompile(line).MatchString(out.String()) {
			t.Errorf("there is no line like %s", line)
		}
	}
	if t.Failed() {
		t.Log(&out)
	}
}

// Painted cells of a column stay aligned, as all colours have the same length.
func TestPainted(t *testing.T) {
	for _, colour := range []string{plain, bold, red, green, cyan} {
		if len(colour) != 2 {
			t.Errorf("colour %q has another length than the others", colour)
		}
	}
	var with, without strings.Builder
	for _, d := range []demo{{out: &with, colours: true}, {out: &without}} {
		w := d.lines()
		w.add(bold, "key", bold, "true")
		w.add(plain, "a", green, "1234567")
		if err := w.w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if got := regexp.MustCompile("\x1b\\[[0-9]+m").ReplaceAllString(with.String(), ""); got != without.String() {
		t.Errorf("painted %q, plain %q", got, without.String())
	}
}
