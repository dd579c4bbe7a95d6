//go:build fuguhooks

package twinattack

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// statementsEnv names a variable with how many statements are tried, where 1,000 are not enough.
const statementsEnv = "FUGUHOOKS_STATEMENTS"

// attacks are statements that have told secrets by answers with noise, one a line: conditions and percentiles that were
// fitted to a reference, sums of signs that vary by the secret, and expressions that take long for those who have it.
//
//go:embed testdata/attacks.sql
var attacks string

// scripts are the attacks' statements, and n that are made at random.
func scripts(n int) []string {
	out := strings.Split(strings.TrimSpace(attacks), "\n")
	g := generator{rand.New(rand.NewPCG(14, 0))}
	for range n {
		out = append(out, g.script())
	}
	return out
}

// answers asks all scripts over a connection, by all roads in turn, and returns a digest of all bytes that come back
// for each.
func answers(p peer, list []string) ([][32]byte, error) {
	defer p.Conn.Close()
	out := make([][32]byte, len(list))
	for i, script := range list {
		told, err := p.ask(script, road(i%3))
		if err != nil {
			return nil, err
		}
		out[i] = sha256.Sum256([]byte(told))
	}
	return out, nil
}

// compare asks two sides the same, at the same time, and returns which scripts tell them apart.
func compare(t testing.TB, a, b string, list []string) (found []string) {
	t.Helper()
	var told [2][][32]byte
	var errs [2]error
	var sides sync.WaitGroup
	for i, dsn := range []string{a, b} {
		p := dial(t, dsn)
		sides.Go(func() { told[i], errs[i] = answers(p, list) })
	}
	sides.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("side %d: %v", i, err)
		}
	}
	for i := range list {
		if told[0][i] != told[1][i] {
			found = append(found, fmt.Sprintf("%d: %s", i, list[i]))
		}
	}
	return found
}

// statementsAreEqual shows that no statement tells the coupled worlds apart, byte for byte; over the tables
// themselves most do, so that it is no wonder of the statements.
func statementsAreEqual(t *testing.T, w [3]*world) {
	n := 1_000
	if text := os.Getenv(statementsEnv); text != "" {
		n, _ = strconv.Atoi(text)
	}
	list := scripts(n)
	a, b := w[first].serve(t), w[second].serve(t)
	found := compare(t, a, b, list)
	t.Logf("%d of %d statements tell the twins apart", len(found), len(list))
	for _, script := range found[:min(5, len(found))] {
		_, sql, _ := strings.Cut(script, ": ")
		for r := simple; r <= inBinary; r++ {
			one, err := dial(t, a).ask(sql, r)
			two, err2 := dial(t, b).ask(sql, r)
			t.Errorf("%s\n%s\n%v %v", script, difference(one, two), err, err2)
		}
	}

	// Where names mean the table itself, they must tell: the fault that all of Fugu is there to prevent.
	direct := func(w *world) string { return w.cluster.DSN("postgres", database) }
	few := list[:min(len(list), 500)]
	found = compare(t, direct(w[first]), direct(w[second]), few)
	t.Logf("over the tables themselves %d of the first %d do", len(found), len(few))
	if len(found) < len(few)/2 {
		t.Errorf("%d of %d statements tell the tables apart: they are no test", len(found), len(few))
	}
}
