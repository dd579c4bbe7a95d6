package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"fugu/test/nightly"
)

// The part of the comparison that fits into a test run: lib/pq's suite, and by night that of pgx's first package. make
// compat has the whole.
func TestSuites(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute or two")
	}
	var part []suite
	for _, s := range suites {
		switch s.name {
		case "pgx":
			if nightly.Is() {
				s.parts = s.parts[:1]
				part = append(part, s)
			}
		case "lib/pq":
			part = append(part, s)
		}
	}
	var out strings.Builder
	n, err := compare(t.Context(), &out, part, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	if n > 0 {
		t.Errorf("%d findings", n)
	}
}

func TestReadEvents(t *testing.T) {
	r, err := readEvents([]byte(`{"Action":"start","Package":"p"}
{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA","Output":"hello\n"}
{"Action":"pass","Test":"TestA"}
{"Action":"fail","Test":"TestA"}
{"Action":"pass","Test":"TestA"}
{"Action":"skip","Test":"TestB"}
{"Action":"pass","Test":"TestC/file=/tmp/TestC1234567/001/x"}
{"Action":"output","Test":"TestCut","Output":"and then"}
{"Action":"output","Output":"panic"}
{"Action":"fail"}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"TestA": "fail", "TestB": "skip", "TestC/file=/tmp/TestCN/x": "pass",
		"TestCut": "fail", whole: "fail"} {
		if r[name].outcome != want {
			t.Errorf("%s: %q, want %q", name, r[name].outcome, want)
		}
	}
	if len(r) != 5 || r[whole].output != "hello\nand thenpanic" || r["TestA"].output != "hello\n" {
		t.Errorf("got %v", r)
	}
	if r, err := readEvents([]byte(`{"Action":"output","Output":"does not build"}` + "\n" +
		`{"Action":"fail"}`)); err != nil || r[whole].outcome != "fail" {
		t.Errorf("a package that does not build gives %v, %v", r, err)
	}
	if _, err := readEvents([]byte("not json")); err == nil {
		t.Error("read what is not JSON")
	}
}

// A panic's last event is that of the test that panicked: the package has none, and the tests beside it no end.
func TestReadEventsUpToAPanic(t *testing.T) {
	r, err := readEvents([]byte(`{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA","Output":"=== PAUSE TestA"}
{"Action":"run","Test":"TestB"}
{"Action":"output","Test":"TestB","Output":"panic: timeout"}
{"Action":"fail","Test":"TestB"}
`))
	if err != nil {
		t.Fatal(err)
	}
	if !r["TestA"].cut || r["TestB"].cut || r[whole].outcome != "fail" ||
		!strings.HasSuffix(r[whole].output, "panic: timeout") {
		t.Errorf("%+v", r)
	}
}

func TestNotes(t *testing.T) {
	pass, fail := result{outcome: "pass"}, result{outcome: "fail", output: "why"}
	among := func(r results) results {
		r = maps.Clone(r)
		for _, name := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"} {
			r[name] = pass
		}
		return r
	}
	part, wanted := known[0].part, known[0].test
	expected := results{}
	for _, k := range known {
		if k.part == part {
			expected[k.test] = fail
		}
	}
	for _, c := range []struct {
		name            string
		part            string
		direct, through results
		steady          []string
		findings        int
		note            string
	}{
		{"all the same", "p", among(results{"a": pass}), among(results{"a": pass}), nil, 0, ""},
		{"one fails", "p", among(results{"a": pass}), among(results{"a": fail}), []string{"a"}, 1,
			"NOT KNOWN\n    why"},
		{"one passes that should not", "p", among(results{"a": fail}), among(results{"a": pass}), []string{"a"}, 1,
			"direct fail, fugu pass"},
		{"one is missing", "p", among(results{"a": pass}), among(results{}), []string{"a"}, 1, "fugu nothing"},
		{"another trace", "p", among(results{"a": {outcome: "pass", exact: "x"}}),
			among(results{"a": {outcome: "pass", exact: "y"}}), []string{"a"}, 1, "NOT KNOWN"},
		{"unsteady", "p", among(results{"a": pass}), among(results{"a": fail}), nil, 0, "unsteady"},
		{"nothing works directly", "p", results{"a": fail}, results{"a": fail}, nil, 1,
			"more than a tenth fails directly"},
		{"known ones", part, among(passed(expected)), among(expected), nil, 0, "known: "},
		{"a known one that is gone", part, among(results{}), among(results{}), nil, len(expected), wanted +
			" does not differ"},
	} {
		k := comparison{part: c.part, direct: c.direct, through: c.through, differences: differences(c.direct,
			c.through), steady: map[string]bool{}}
		for _, s := range c.steady {
			k.steady[s] = true
		}
		notes, n := k.notes()
		if n != c.findings || !slices.ContainsFunc(append(notes, ""),
			func(s string) bool { return strings.Contains(s, c.note) }) {
			t.Errorf("%s: %d findings, want %d with %q:\n%s", c.name, n, c.findings, c.note, strings.Join(notes, "\n"))
		}
	}
}

// passed are the same tests, all passed.
func passed(r results) results {
	out := results{}
	for name := range r {
		out[name] = result{outcome: "pass"}
	}
	return out
}
