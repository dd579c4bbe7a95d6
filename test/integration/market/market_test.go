package market

import (
	"context"
	"flag"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"fugu/examples/marketplace"
	"fugu/test/beside"
	"fugu/test/command"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

var (
	orders = flag.Int("orders", 120000, "how many `rows` of orders there are; the example itself has 270000")
	builds = flag.Int("builds", 1, "build the twin and ask all statements so many `times`, each time from nothing")
)

// near is the median relative error up to which a statement counts as answered well.
const near = .05

// enough is how many statements have to be near, beside so much noise on the secret. Two never are (28 and 29 of the
// README), three need not be (4, 21 and 30), nor one more (5) where the noise is beyond 1.5 times its scale.
func enough(noise float64) int {
	if math.Abs(noise) > 1.5*within {
		return 24
	}
	return 25
}

// TestAnalyst builds the twin with the command, serves it, and asks the thirty statements through Fugu and of the true
// tables. As many as enough says are within 5% in the median of their cells.
//
// The data are always the same; what the build draws is not. Statements about the supplier whose share is secret are
// off by the noise, and so is, by less, what goes with suppliers: of a twin with much noise fewer statements are
// near. Noise of more than twice its scale comes once in seven builds (e^-2). Such a build is set aside for the next:
// that seven of seven are is a false alarm of e^-14, 8e-7. The README of the example has what was measured with
// -builds 10, none set aside.
//
// Of the statements that have to be near none was off by more than 3.8% in fifteen builds. That one is by more than 5%
// where all that need not be near are as well comes less than once in a thousand builds; then another build decides: a
// false alarm below 1e-6.
func TestAnalyst(t *testing.T) {
	patient.Test(t)
	m := load(t)
	m.checkReadme(t)
	questions, err := marketplace.Questions()
	if err != nil {
		t.Fatal(err)
	}
	if len(questions) != 30 {
		t.Fatalf("there are %d questions", len(questions))
	}
	truth := m.ask(t, m.cluster.DSN("postgres", database), questions)

	for try := range 2 {
		missing := 0
		m.twins(t, func(twin *served, noise float64) {
			missing = enough(noise) - report(t, questions, truth, m.ask(t, twin.dsn("alice"), questions), noise)
		})
		if *builds > 1 || missing <= 0 {
			break
		}
		if try > 0 {
			t.Errorf("%d statements fewer are within %.0f%% than have to be", missing, 100*near)
		}
		kept.config = ""
	}
}

// twins has a test ask so many twins as -builds says, of which one is kept for the next test that asks one.
func (m *market) twins(t *testing.T, ask func(twin *served, noise float64)) {
	t.Helper()
	if *builds == 1 && kept.config != "" {
		twin := m.serve(t, kept.config, database)
		ask(twin, kept.noise)
		twin.stop(t)
		return
	}
	for done, large := 0, 0; done < *builds; {
		config, noise := m.build(t)
		if *builds == 1 && math.Abs(noise) > 2*within {
			if large++; large == 7 {
				t.Fatalf("the noise of the seventh build in a row is large: %.3f", noise)
			}
			continue
		}
		kept.config, kept.noise = config, noise
		twin := m.serve(t, config, database)
		ask(twin, noise)
		twin.stop(t)
		done++
	}
}

// kept is the last twin that was asked.
var kept struct {
	config string
	noise  float64
}

// checkReadme checks that README.md shows what fugu twin preview prints of the example as it stands.
func (m *market) checkReadme(t *testing.T) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(example, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(example, "fugu.yaml")
	out, err := exec.CommandContext(t.Context(), m.binary, "twin", "preview", "-c", config).Output()
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for line := range strings.Lines(string(out)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		shown++
		if !strings.Contains(string(readme), "\n    "+line) {
			t.Errorf("README.md does not have the line %q", line)
		}
	}
	if shown < 10 {
		t.Errorf("the preview has %d lines:\n%s", shown, out)
	}
}

// within is the policy's, and the scale of the noise at epsilon 1, as a share of the orders.
const within = .02

// report prints how far off the answers are, and returns how many are near the truth.
func report(t *testing.T, questions []marketplace.Question, truth, told []beside.Table, noise float64) (good int) {
	t.Helper()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tcells\tmedian error\tworst\t\t  statement")
	for i, q := range questions {
		cells := beside.Cells(truth[i], told[i], q.Keys)
		if len(cells) == 0 {
			t.Errorf("statement %d has no cell to compare", q.Number)
		}
		worst, mark := 0., "near"
		for _, c := range cells {
			worst = max(worst, c.Off)
		}
		median := beside.Median(cells)
		if median <= near {
			good++
		} else {
			mark = "FAR"
		}
		fmt.Fprintf(w, "%d\t%d\t%.2f%%\t%.1f%%\t%s\t  %s\n", q.Number, len(cells), 100*median, 100*worst, mark, q.Title)
	}
	_ = w.Flush()
	t.Logf("share told - true: %+.4f; %d of %d statements are within %.0f%%\n%s",
		noise, good, len(questions), 100*near, text.String())
	return good
}

const database, example = "marketplace", "../../../examples/marketplace"

// market is the example in a database of its own.
type market struct {
	cluster *pgcluster.Cluster
	binary  string
	share   float64 // the true one
}

// load fills the example's database, if no test has before.
func load(t *testing.T) *market {
	t.Helper()
	m := &market{cluster: pgcluster.Shared(t)}
	var there bool
	look := connect(t, m.cluster.DSN("postgres", "postgres"))
	const looking = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)"
	if err := look.QueryRow(t.Context(), looking, database).Scan(&there); err != nil {
		t.Fatal(err)
	}
	if !there {
		m.fill(t)
	}

	conn := connect(t, m.cluster.DSN("postgres", database))
	const share = "SELECT avg((supplier = 'NORT01')::int)::float8 FROM orders"
	if err := conn.QueryRow(t.Context(), share).Scan(&m.share); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.binary, err = command.Build(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *market) fill(t *testing.T) {
	t.Helper()
	if err := m.cluster.CreateDatabase(t.Context(), database, ""); err != nil {
		t.Fatal(err)
	}
	loading := exec.CommandContext(t.Context(), filepath.Join(example, "load.sh"), strconv.Itoa(*orders))
	loading.Env = append(os.Environ(), "PGHOST="+m.cluster.SocketDir(), "PGPORT="+strconv.Itoa(m.cluster.Port()),
		"PGUSER=postgres", "PGDATABASE="+database)
	if out, err := loading.CombinedOutput(); err != nil {
		t.Fatalf("load.sh: %v\n%s", err, out)
	}
}

// build makes the twin in the place of the one that there is, with a new ledger, as the README says, and returns the
// configuration that serves it. noise is by how much the share that it tells is off.
func (m *market) build(t *testing.T) (config string, noise float64) {
	t.Helper()
	if err := m.cluster.Exec(t.Context(), database, "DROP SCHEMA IF EXISTS fugu_twin CASCADE"); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(m.cluster.SocketDir(), "market") // gone with the cluster that has the twin
	if err != nil {
		t.Fatal(err)
	}
	config = m.configure(t, dir, setting{"fugu.yaml", "marketplace.policy.yaml", database, 270000, *orders})
	m.run(t, config, "twin of public.order_item: is not built yet", "check")
	m.run(t, config, "price: epsilon 1, delta 0.001, once", "twin", "preview")
	m.run(t, config, "public.orders: its twin has", "twin", "build")
	m.run(t, config, "nothing to do", "twin", "build")
	m.run(t, config, "twin of public.order_item: is built", "check")

	twin := m.serve(t, config, database)
	defer twin.stop(t)
	const telling = "SELECT told::float8 / rows FROM fugu.twin WHERE class = 'dependence=true'"
	var share float64
	if err := connect(t, twin.dsn("alice")).QueryRow(t.Context(), telling).Scan(&share); err != nil {
		t.Fatal(err)
	}
	return config, share - m.share
}

// run runs a command of fugu, which succeeds, says what is wanted, and warns of nothing.
func (m *market) run(t *testing.T, config, wants string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), m.binary, append(args, "-c", config)...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), wants) || strings.Contains(string(out), "warning") {
		t.Fatalf("fugu %v: %v, without %q or with a warning:\n%s", args, err, wants, out)
	}
}

// served is fugu serve before a database.
type served struct {
	*command.Process
	database string
}

func (m *market) serve(t *testing.T, config, database string) *served {
	t.Helper()
	p, err := command.Serve(m.binary, config)
	if err != nil {
		t.Fatal(err)
	}
	return &served{p, database}
}

func (s *served) stop(t *testing.T) {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

func (s *served) dsn(user string) string {
	u := url.URL{Scheme: "postgres", User: url.User(user), Host: s.Address, Path: s.database,
		RawQuery: "sslmode=disable"}
	return u.String()
}

// setting is a configuration of the example, with the policy that it names: of rows orders where the file says said.
type setting struct {
	config, policy, database string
	said, rows               int
}

// configure writes the example's configuration and policy, pointed at the cluster and with as many rows as there are.
// Each edit is a text of the policy, and what stands in its place.
func (m *market) configure(t *testing.T, dir string, s setting, edits ...string) string {
	t.Helper()
	file := func(name string, edits ...string) {
		text, err := os.ReadFile(filepath.Join(example, name))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(edits); i += 2 {
			if !strings.Contains(string(text), edits[i]) {
				t.Fatalf("%s does not have %q", name, edits[i])
			}
		}
		edited := strings.NewReplacer(edits...).Replace(string(text))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file(s.policy, append(edits, fmt.Sprintf("rows: %d", s.said), fmt.Sprintf("rows: %d", s.rows))...)
	roles := []string{"127.0.0.1:6432", "127.0.0.1:0", "scram-sha-256", "trust", "users:", "# users:"}
	for _, role := range []string{"fugu_guest", "fugu_reader", "fugu_keeper"} {
		if role == "fugu_keeper" && s.database != database {
			continue // noise needs none
		}
		roles = append(roles, "postgres://"+role+"@127.0.0.1:5432/marketplace",
			fmt.Sprintf("%q", m.cluster.DSN(role, s.database)))
	}
	file(s.config, roles...)
	return filepath.Join(dir, s.config)
}

// ask asks all questions in one session.
func (m *market) ask(t *testing.T, dsn string, questions []marketplace.Question) (answers []beside.Table) {
	t.Helper()
	conn := connect(t, dsn)
	for _, q := range questions {
		a, err := beside.Query(t.Context(), conn, q.SQL)
		if err != nil {
			t.Fatalf("statement %d: %v", q.Number, err)
		}
		answers = append(answers, a)
	}
	return answers
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
