//go:build fuguhooks

package kill

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// builds is one ledger, and tables of which "fugu twin build" makes twins, each killed at a point.
type builds struct {
	scene
	binary string
	admin  *pgx.Conn
	twins  *pgx.Conn     // to where twins are published
	as     string        // what a twin is called there; %s is its table
	ledger ledger.Ledger // open beside the builds, as "fugu serve" has it
	tables int
}

const twinPolicy = `version: 1
dataset: %[1]s
tables:
  public.%[1]s: {rows: %[2]d, answers: twin, twin: {rows: shown}}
secrets:
  yes: {table: public.%[1]s, proportion: yes, values: {from: 0.1, to: 0.9, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.01, budget: {epsilon: 1, delta: 0.01, per: dataset}}
`

func newBuilds(t *testing.T, cluster *pgcluster.Cluster, binary, kind string, apart bool) *builds {
	t.Helper()
	b := &builds{binary: binary, scene: scene{t: t, config: sides.Config{Dir: t.TempDir()}}}
	url := "sqlite:" + filepath.Join(b.config.Dir, "fugu.db")
	if kind == "PostgreSQL" {
		url = cluster.DSN("fugu_ledger", newDatabase(t, cluster))
	}
	database := "twins_" + strings.ToLower(kind)
	if apart {
		database += "_source"
	}
	published := database
	const roles = `DO $$ BEGIN CREATE ROLE fugu_keeper LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
	  GRANT CREATE ON DATABASE %s TO fugu_keeper; GRANT CREATE ON SCHEMA public TO fugu_keeper`
	databases, further := []string{database}, ""
	b.as = "fugu_twin.%s"
	if apart {
		published = database + "_apart"
		databases, b.as = append(databases, published), "public.%s"
		further = fmt.Sprintf(", twins: %q", cluster.DSN("fugu_keeper", published))
	}
	for _, name := range databases {
		err := cluster.Exec(t.Context(), "postgres", "CREATE DATABASE "+name)
		if err == nil {
			err = cluster.Exec(t.Context(), name, fmt.Sprintf(roles, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	configuration := fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, reader: %q, keeper: %q%s}\nauth: "+
		"{method: trust}\npolicy: the.policy.yaml\nledger: %q\n",
		cluster.DSN("fugu_guest", published), cluster.DSN("fugu_reader", published),
		cluster.DSN("fugu_keeper", database), further, url)
	if err := os.WriteFile(filepath.Join(b.config.Dir, "fugu.yaml"), []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if b.admin, err = pgx.Connect(t.Context(), cluster.DSN("postgres", database)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.admin.Close(context.Background()) })
	if b.twins, err = pgx.Connect(t.Context(), cluster.DSN("postgres", published)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.twins.Close(context.Background()) })
	if b.ledger, err = ledger.Open(t.Context(), url, ledger.Options{Exclusive: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.ledger.Close() })
	return b
}

// table makes another table, whose twin is what the next builds make. It is longer than the others: of the same rows
// under another name no twin is drawn.
func (b *builds) table() string {
	b.t.Helper()
	b.tables++
	name, rows := fmt.Sprint("t", b.tables), 200+b.tables
	sql := fmt.Sprintf("CREATE TABLE %[1]s (id int PRIMARY KEY, yes bool); INSERT INTO %[1]s SELECT i, i <= 60 "+
		"FROM generate_series(1, %[2]d) i; GRANT SELECT ON %[1]s TO fugu_keeper", name, rows)
	if _, err := b.admin.Exec(b.t.Context(), sql); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.config.Dir, "the.policy.yaml"), fmt.Appendf(nil, twinPolicy, name, rows),
		0o600); err != nil {
		b.t.Fatal(err)
	}
	return name
}

// fugu runs "fugu twin" with these words.
func (b *builds) fugu(words ...string) (output string, err error) {
	cmd := sides.Command(b.t.Context(), b.binary, append([]string{"twin"},
		append(words, "-c", filepath.Join(b.config.Dir, "fugu.yaml"))...)...)
	cmd.Env = append(os.Environ(), hook.DirectoryEnv+"="+b.config.Dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// state is what the ledger and the database have of a table's twin.
type state struct {
	charges int
	noisy   []int64
	seen    bool   // it can be read
	rows    string // what it holds
}

func (b *builds) state(table string) (s state) {
	b.t.Helper()
	if _, err := b.ledger.Audit(b.t.Context(), func(l audit.Link) error {
		e, err := l.Entry()
		if e.Event == audit.Release && e.Dataset == table {
			s.charges++
		}
		return err
	}); err != nil {
		b.t.Fatal(err)
	}
	answers, err := b.ledger.Releases(b.t.Context(), table, 10)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, a := range answers {
		var draw struct{ Noisy []int64 }
		if err := json.Unmarshal(a.Bytes, &draw); err != nil {
			b.t.Fatal(err)
		}
		s.noisy = draw.Noisy
	}
	name := fmt.Sprintf(b.as, table)
	if err := b.twins.QueryRow(b.t.Context(), "SELECT to_regclass($1) IS NOT NULL", name).Scan(&s.seen); err != nil {
		b.t.Fatal(err)
	}
	if s.seen {
		if err := b.twins.QueryRow(b.t.Context(), "SELECT string_agg(t::text, ' ' ORDER BY id) FROM "+name+
			" t").Scan(&s.rows); err != nil {
			b.t.Fatal(err)
		}
	}
	return s
}

// try has a build killed at a point, and returns what is wrong then, or once it was begun again.
func (b *builds) try(p point) (wrong []string) {
	b.t.Helper()
	table := b.table()
	b.order(p.order("kill"))
	out, err := b.fugu("build")
	b.order()
	if err == nil {
		return []string{"it was not killed: " + out}
	}
	killed := b.state(table)
	if killed.seen && killed.charges == 0 {
		wrong = append(wrong, "the twin is seen, and not charged")
	}
	if out, err := b.fugu("build"); err != nil {
		return append(wrong, "the next build: "+out)
	}
	after := b.state(table)
	if _, err := b.fugu("build", "-again"); err != nil {
		wrong = append(wrong, "the one after it failed")
	}
	end := b.state(table)
	switch {
	case after.charges != 1 || end.charges != 1:
		wrong = append(wrong, fmt.Sprintf("charged %d times, and %d in the end", after.charges, end.charges))
	case !after.seen || !end.seen:
		wrong = append(wrong, "there is no twin")
	case killed.noisy != nil && !slices.Equal(killed.noisy, after.noisy):
		wrong = append(wrong, fmt.Sprintf("it was drawn twice: %v and %v", killed.noisy, after.noisy))
	case after.rows != end.rows || killed.seen && killed.rows != after.rows:
		wrong = append(wrong, "there were two different twins")
	}
	return wrong
}

// A build of a twin that is killed at any point, of its own or of the ledger's statements, is never seen uncharged,
// never charged twice, and goes on to the one twin that there is. Another process has the ledger open, as "fugu serve"
// does.
func TestTwinKilledAtEveryPoint(t *testing.T) {
	cluster, binary := house(t)
	for _, x := range []struct {
		ledger string
		apart  bool // twins are in another database
	}{{ledgers[0], false}, {ledgers[1], false}, {ledgers[0], true}} {
		t.Run(fmt.Sprintf("%s, apart %v", x.ledger, x.apart), func(t *testing.T) {
			b := newBuilds(t, cluster, binary, x.ledger, x.apart)
			b.table()
			if out, err := b.fugu("build"); err != nil { // the first of all makes the schema and the registry
				t.Fatal(out)
			}
			b.table()
			points := b.trace(func() {
				if out, err := b.fugu("build"); err != nil {
					t.Fatal(out)
				}
			})
			named := 0
			for i, p := range points {
				own := strings.Contains(p.name, "twin") && !strings.Contains(p.name, ":")
				if !own && !p.decisive() && !all() && i%31 != 0 {
					continue // of the ledger's own, which statements pass too
				}
				if own {
					named++
				}
				for _, wrong := range b.try(p) {
					t.Errorf("killed at %s: %s", p, wrong)
				}
			}
			t.Logf("%d of %d points, %d of them the build's own", b.tables-2, len(points), named)
			if named < 4 {
				t.Error("the build did not pass its own points")
			}
		})
	}
}
