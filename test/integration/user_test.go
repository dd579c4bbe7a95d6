package integration

import (
	"bytes"
	"log/slog"
	"strings"
	gosync "sync" // peer_test.go has a message of that name
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// With accounts of users, each user's pays once for an answer, also for one that somebody else was given first, and all
// get the same one. Everybody's has paid once.
func TestBudgetPerUser(t *testing.T) {
	f := serve(t, options{policy: []string{"per: dataset}", "per: user}"}})
	alice, bob := f.connect(t), connect(t, f.dsn("bob"))
	spent := func(t *testing.T, c *pgx.Conn) (epsilon float64, releases int) {
		t.Helper()
		if err := c.QueryRow(t.Context(),
			"SELECT max(epsilon_spent), max(releases) FROM fugu.budget WHERE scope <> ''").Scan(&epsilon,
			&releases); err != nil {
			t.Fatal(err)
		}
		return epsilon, releases
	}
	const sql = "SELECT avg(age) FROM adult WHERE sex = 'Male'"
	first := rows(t, alice, sql)
	cost, _ := spent(t, alice)
	if e, n := spent(t, bob); e != 0 || n != 0 {
		t.Fatalf("bob has paid epsilon %g for alice's answer", e)
	}
	for range 2 {
		if got := rows(t, bob, sql); got != first {
			t.Errorf("bob was told %s, alice %s", got, first)
		}
		if e, n := spent(t, bob); e != cost || n != 1 {
			t.Errorf("bob has paid epsilon %g for %d answers, alice %g for one", e, n, cost)
		}
	}
	if e, n := spent(t, alice); e != cost || n != 1 {
		t.Errorf("alice has paid epsilon %g for %d answers", e, n)
	}
	if got := rows(t, bob,
		"SELECT scope, max(releases) FROM fugu.budget GROUP BY scope ORDER BY scope"); got !=
		"[\"\" \"1\"]\n[\"bob\" \"1\"]\n" {
		t.Errorf("bob sees %s", got)
	}
}

// syncBuffer is a log that sessions write to together.
type syncBuffer struct {
	mu gosync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// No log holds a statement, a literal, a parameter or a released value, whatever becomes of the statement.
func TestLogsHoldNothingOfTheUsers(t *testing.T) {
	patient.Test(t)
	log := &syncBuffer{}
	f := serve(t, options{log: slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})})
	c := f.connect(t)
	for _, sql := range []string{
		"SELECT count(*) FROM adult WHERE workclass <> 'xyzzy42'",
		"SELECT max(age) FROM adult WHERE workclass <> 'xyzzy42'",
		"SELECT count(*) FROM adult WHERE (workclass || 'xyzzy42') = 'x'",
		"SELECT count(*) FROM adult WHERE age = 'xyzzy42'",
		"SELECT count(*) FROM adult WHERE workclass::int = 1 OR workclass = 'xyzzy42'",
		"SELECT 'xyzzy42', count(*) FROM adult WHERE nope",
		"SELECT 'xyzzy42' FRM adult",
		"SELECT sum(age) FROM adult WHERE workclass = 'xyzzy42'",
		"SELECT 'xyzzy42'::int",
		"SET fugu.epsilon = 'xyzzy42'",
	} {
		_, _ = c.Exec(t.Context(), sql)
	}
	// With so many digits that no part of a time is it by chance.
	var n string
	if err := c.QueryRow(t.Context(), "SELECT (count(*) + 1000000000000000)::text FROM adult WHERE workclass <> $1",
		"xyzzy42").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "SELECT count(*) FROM adult WHERE age > $1", "xyzzy42"); err == nil {
		t.Fatal("text is a number")
	}
	if err := f.ledger.Close(); err != nil { // from here on everything fails inside
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "SELECT count(*) FROM adult WHERE workclass <> 'xyzzy42' AND age > 1"); code(
		err) != "57P03" {
		t.Errorf("without a ledger: %v", err)
	}
	text := log.String()
	if !strings.Contains(text, "57P03") {
		t.Errorf("the log does not say that the ledger is gone: %s", text)
	}
	for _, word := range []string{"xyzzy42", "adult", "SELECT", n[1:]} {
		if strings.Contains(text, word) {
			t.Errorf("the log holds %q: %s", word, text)
		}
	}
}
