package main

import (
	"regexp"
	"strconv"
	"testing"

	"fugu/test/patient"
)

// check says what becomes of epsilon where the reference is taken for the truth, for each secret of the table, and what
// it costs to promise it; of a policy that does, what it costs there.
func TestCheckTellsWhatTheReferenceMayBeOffBy(t *testing.T) {
	patient.Test(t)
	_, stdout, _ := invoke(t, "check", "-c", setting(t))
	becomes := regexp.MustCompile(
		`secret (\w+) takes the reference of public.adult for the truth: for every law that it `+
			`may have been drawn from, but for a chance of 1e-06, the noise of SELECT sex, count\(\*\) .* has epsilon `+
			`([0-9.]+) in place of 1\n`).FindAllStringSubmatch(stdout, -1)
	if len(becomes) != 2 || becomes[0][1] != "high_income" || becomes[1][1] != "private_sector" {
		t.Fatalf("of two secrets: %q\n%s", becomes, stdout)
	}
	for _, b := range becomes {
		if e, err := strconv.ParseFloat(b[2], 64); err != nil || !(e > 1 && e < 100) {
			t.Errorf("secret %s: epsilon becomes %s", b[1], b[2])
		}
	}
	cost := regexp.MustCompile(`privacy.estimation: \{delta: 1e-06\} would promise it, with ([0-9.]+) times the noise`)
	would := cost.FindStringSubmatch(stdout)
	if would == nil {
		t.Fatalf("no cost in\n%s", stdout)
	}

	_, stdout, _ = invoke(t, "check", "-c", setting(t, "mechanism: auto",
		"mechanism: auto\n  estimation: {delta: 1e-6}"))
	cost = regexp.MustCompile(`estimation.delta 1e-06 takes ([0-9.]+) times the noise there, and is reserved once`)
	if takes := cost.FindStringSubmatch(stdout); takes == nil || takes[1] != would[1] || takes[1] == "1" {
		t.Errorf("it would take %s times the noise, and takes %q\n%s", would[1], takes, stdout)
	}
	t.Log(becomes, would)
}
