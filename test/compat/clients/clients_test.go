package main

import (
	"fmt"
	"strings"
	"testing"
)

// The clients that tests need anyway; make compat has all.
func TestClients(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	var out strings.Builder
	failed, err := runAll(t.Context(), &out, false, func(c client) bool { return c.test })
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	if failed > 0 {
		t.Errorf("%d failures", failed)
	}
}

// Two clients whose protected table is a twin; make compat has all.
func TestClientsOnATwin(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	var out strings.Builder
	failed, err := runAll(t.Context(), &out, true, func(c client) bool {
		return c.name == "psql" ||
			c.name == "lib/pq"
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	if failed > 0 {
		t.Errorf("%d failures", failed)
	}
}

// What a client prints is not believed.
func TestCheckDashboard(t *testing.T) {
	want := map[string]expected{
		"by_sex": {[]string{"Female", "Male"}, [][]float64{{100, 40}, {200, 41}}, [][]float64{{10, 1}, {10, 1}}},
		"totals": {[]string{""}, [][]float64{{1000, 5}}, [][]float64{{50, 2}}},
	}
	line := func(question string, values ...any) string {
		return "dashboard\ttext\t" + question + "\t" + strings.TrimSuffix(strings.ReplaceAll(fmt.Sprintln(values...),
			" ", "\t"), "\n") + "\n"
	}
	female, male := line("by_sex", "Female", 109, 39.5), line("by_sex", "Male", 191, "41.99")
	for _, c := range []struct {
		name, output string
		answers      int // 0: it is wrong
	}{
		{"right", "something else\n" + female + male + line("totals", 1050, 3), 2},
		{"asked twice", female + male + female + male, 2},
		{"in several modes", female + male + strings.ReplaceAll(female+male, "text", "binary"), 2},
		{"silent", "", 0},
		{"too far", female + line("by_sex", "Male", 189, 41), 0},
		{"the other value too far", female + line("by_sex", "Male", 200, 42.1), 0},
		{"values exchanged", line("by_sex", "Male", 109, 39.5) + line("by_sex", "Female", 191, 41.9), 0},
		{"wrong order", male + female, 0},
		{"a row too few", female, 0},
		{"a row too many", female + male + male, 0},
		{"a value too few", line("totals", 1000), 0},
		{"a value too many", line("totals", 1000, 5, 5), 0},
		{"no number", line("totals", 1000, "None"), 0},
		{"not a number", line("totals", 1000, "NaN"), 0},
		{"another question", line("by_shoe", 1000, 5), 0},
		{"cut off", "dashboard\ttext\n", 0},
	} {
		if n, err := checkDashboard(c.output, want); n != c.answers || (err == nil) != (c.answers > 0) {
			t.Errorf("%s: %d answers, %v", c.name, n, err)
		}
	}
}

func TestFirstDifference(t *testing.T) {
	if got := firstDifference("a\nb\nc", "a\nx\nc"); !strings.Contains(got, "line 2") ||
		!strings.Contains(got, "b\n") || !strings.Contains(got, "x\n") {
		t.Errorf("got %q", got)
	}
	if got := firstDifference("a", "a\nmore"); !strings.Contains(got, "more") {
		t.Errorf("got %q", got)
	}
}
