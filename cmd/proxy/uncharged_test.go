//go:build fuguhooks

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fugu/test/patient"
)

// steamToo is a secret that a policy may get later.
const steamToo = "  steam: {table: public.ship, proportion: kind = 'steam', " +
	"values: {from: 0.2, to: 0.8, within: 0.05}}\n"

// narrowPolicy is harbourPolicy with two ships in the place of a hundred.
var narrowPolicy = strings.Replace(harbourPolicy, "within: 0.05", "within: 0.001", 1)

const (
	askedNarrow = "SELECT count(*)::text FROM ship WHERE big"
	askedNext   = "SELECT count(*)::text FROM ship WHERE nr > 1000"
)

// grown is a proxy whose policy was narrow when it was asked, and is not any more. The answer that was made to hide two
// ships tells a hundred apart: whoever guesses by the nearer of the two counts errs with a chance below 3e-7.
func grown(t *testing.T, fault string) (proxy *child, path, told string) {
	t.Helper()
	_, path = harbouring(t)
	writeFile(t, filepath.Join(filepath.Dir(path), "p.policy.yaml"), narrowPolicy)
	proxy, alice := through(t, path, "harbour", faultEnv+"="+fault)
	told = ask(t, alice, askedNarrow)
	sd, err := strconv.ParseFloat(ask(t, alice, "SELECT noise_sd::text FROM fugu.last_release"), 64)
	if err != nil || !(sd > 0 && sd < 10) {
		t.Fatalf("%s ± %v, %v", told, sd, err)
	}
	proxy.reloadTo(t, path, harbourPolicy)
	return proxy, path, told
}

// reloadTo has the proxy serve under another policy.
func (c *child) reloadTo(t *testing.T, path, policy string) {
	t.Helper()
	writeFile(t, filepath.Join(filepath.Dir(path), "p.policy.yaml"), policy)
	if !c.reload(t) {
		t.Fatalf("the policy was not reloaded:\n%s", c.log)
	}
}

// asks asks in a session of its own.
func (c *child) asks(t *testing.T, sql string) string {
	t.Helper()
	alice, err := c.to(t, "harbour")
	if err != nil {
		t.Fatal(err)
	}
	return ask(t, alice, sql)
}

// A policy that comes to promise more than answers were charged under is refused, at each place where somebody looks:
// by the statement, its explanation, the log and check. Once the policy of then is back it goes on.
func TestPromisesThatGrow(t *testing.T) {
	patient.Test(t)
	proxy, path, told := grown(t, "")
	const words = `hide less of secret "big" of table public.ship`
	for where, said := range map[string]string{"the answer": proxy.asks(t, askedNext), "the log": proxy.log.String(),
		"the explanation": proxy.asks(t, "EXPLAIN (PRIVACY, FORMAT JSON) "+askedNext)} {
		if said = strings.ReplaceAll(said, `\`, ""); !strings.Contains(said, words) ||
			!strings.Contains(said, "within 0.001") {
			t.Errorf("%s has no %q: %s", where, words, said)
		}
	}
	expect(t, exitFailure, words, "check", "-c", path)

	// What was told is told again under the policy of then.
	proxy.reloadTo(t, path, narrowPolicy)
	if again := proxy.asks(t, askedNarrow); again != told {
		t.Errorf("%s, and %s before", again, told)
	}
	if got := proxy.asks(t, askedNext); !wholeNumber.MatchString(got) {
		t.Errorf("as before: %s", got)
	}
	if code, stdout, stderr := invoke(t, "check", "-c", path); code != exitOK ||
		strings.Contains(stdout, "in no account") {
		t.Errorf("as before: exit %d\n%s%s", code, stdout, stderr)
	}
	proxy.reloadTo(t, path, strings.Replace(narrowPolicy, "assume:", steamToo+"assume:", 1))
	if got := proxy.asks(t, askedNext); !strings.Contains(got, `secret "steam"`) ||
		!strings.Contains(got, "it is new") {
		t.Errorf("with another secret: %s", got)
	}
}

// A version that kept no promises answers on, and says that most of the budget is left, though what it told gives away
// which of two values the policy hides: so that what TestPromisesThatGrow sees refused is an attack.
func TestPromisesThatGrewUnseen(t *testing.T) {
	patient.Test(t)
	proxy, _, _ := grown(t, "promiseless")
	if got := proxy.asks(t, askedNext); !wholeNumber.MatchString(got) {
		t.Errorf("it is not answered: %s", got)
	}
	left, err := strconv.ParseFloat(proxy.asks(t, "SELECT epsilon_left::text FROM fugu.budget LIMIT 1"), 64)
	if err != nil || left < 7 {
		t.Errorf("%v of 10 are left, %v", left, err)
	}
}

// Of a period in which a version charged that kept no promises check says which secrets came late, or have another
// name, and so does serve's log. Of secrets that were there from the beginning nothing is said.
func TestSecretsThatComeLate(t *testing.T) {
	patient.Test(t)
	_, path := harbouring(t)
	file := filepath.Join(filepath.Dir(path), "p.policy.yaml")
	both := strings.Replace(harbourPolicy, "assume:", steamToo+"assume:", 1)
	answered := func(policy, fault string) {
		t.Helper()
		writeFile(t, file, policy)
		_, alice := through(t, path, "harbour", faultEnv+"="+fault)
		ask(t, alice, "SELECT count(*)::text FROM ship WHERE big")
	}
	const words = "charged for 0 of 1 answers"

	answered(harbourPolicy, "promiseless")
	if _, stdout, _ := invoke(t, "check", "-c", path); strings.Contains(stdout, "in no account") {
		t.Errorf("nothing has come late:\n%s", stdout)
	}
	writeFile(t, file, both)
	expect(t, exitOK, "secret steam of table public.ship was "+words, "check", "-c", path)
	writeFile(t, file, strings.Replace(harbourPolicy, "  big:", "  large:", 1))
	expect(t, exitOK, "secret large of table public.ship was "+words, "check", "-c", path)

	config, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, strings.Replace(string(config), "fugu.db", "other.db", 1))
	answered(both, "")
	if _, stdout, _ := invoke(t, "check", "-c", path); strings.Contains(stdout, "in no account") {
		t.Errorf("both were there from the beginning:\n%s", stdout)
	}
}

// The same rows have one budget, whatever their dataset is called, and what everybody knows of them is the same for all
// that the budget pays for.
func TestOneBudgetForTheSameRows(t *testing.T) {
	patient.Test(t)
	c, path := harbouring(t)
	proxy, alice := through(t, path, "harbour")
	ask(t, alice, askedNarrow)
	for _, x := range []struct{ policy, words string }{
		{strings.Replace(harbourPolicy, "dataset: harbour", "dataset: haven", 1), `charged to dataset "harbour"`},
		{harbourPolicy + "public:\n  sails: {statement: \"SELECT count(*) FROM ship WHERE kind = 'sail'\", " +
			"values: {'count(*)': 1000}}\n", "which are public by now"},
	} {
		proxy.reloadTo(t, path, x.policy)
		if got := proxy.asks(t, askedNext); !strings.Contains(got, x.words) {
			t.Errorf("it is answered, or refused without %q: %s", x.words, got)
		}
		expect(t, exitFailure, x.words, "check", "-c", path)
	}

	// The new name is one for the same rows once the old one's budget was given up.
	proxy.reloadTo(t, path, strings.Replace(harbourPolicy, "dataset: harbour", "dataset: haven", 1))
	expect(t, exitOK, "", "budget", "reset", "harbour", "-reason", "another name", "-c", path)
	if got := proxy.asks(t, askedNext); !wholeNumber.MatchString(got) {
		t.Errorf("after the reset: %s", got)
	}

	// Of a server that keeps its number to itself nobody knows whether the rows are the same.
	if err := c.Exec(t.Context(), "harbour", "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC"); err != nil {
		t.Fatal(err)
	}
	proxy.reloadTo(t, path, strings.Replace(harbourPolicy, "dataset: harbour", "dataset: bay", 1))
	if got := proxy.asks(t, askedNext); !wholeNumber.MatchString(got) {
		t.Errorf("by names alone: %s", got)
	}
}
