package integration

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/test/adult"
	"fugu/test/badnet"
	"fugu/test/nightly"
	"fugu/test/pgcluster"
	"fugu/wire"
)

// soakEnv is how long TestSoak lasts, and soakIdle how many clients sit idle at its end: make soak sets them.
const (
	soakEnv     = "FUGU_SOAK"
	soakIdleEnv = "FUGU_SOAK_IDLE"
)

// soak is what TestSoak's clients share.
type soak struct {
	t       *testing.T
	address string // of Fugu, through the clients' network
	stop    chan struct{}

	mu      gosync.Mutex
	answers map[string]string // the answer of each protected statement, as it was first given
	served  map[string]int    // successes by kind of client
	refused map[string]int    // errors by code; "" is a connection that broke
}

// TestSoak lets everything go wrong at once: the networks to PostgreSQL and to the clients delay, split, freeze and
// reset, sessions are terminated, PostgreSQL is killed and restarted, while clients ask, cancel, vanish, read slowly
// and come in crowds. Whatever happens, an answer once given stays the same, errors are those that a lost database has,
// and nothing hangs. When the weather is good again everything works, and when all have left nothing remains: no
// goroutine, no session of PostgreSQL's, and of budget what the answers cost, once each.
func TestSoak(t *testing.T) {
	lasts, idle := soakSize(t)
	cluster := pgcluster.StartTest(t, pgcluster.Options{MaxConnections: idle + 200})
	loaded, err := adult.Load(t.Context(), cluster, "adult", adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	toServer := fmt.Sprintf("127.0.0.1:%d", cluster.Port())
	guests, readers := newNetwork(t, toServer), newNetwork(t, toServer)
	file := filepath.Join(t.TempDir(), "fugu.db")
	f, err := start(t.Context(), &database{cluster, loaded.Rows}, t.TempDir(), options{ledger: file,
		guest:  "postgres://fugu_guest@" + guests.Address() + "/adult?sslmode=disable",
		reader: "postgres://fugu_reader@" + readers.Address() + "/adult?sslmode=disable",
		policy: []string{"budget: {epsilon: 20,", "budget: {epsilon: 1000,"},
		// On a busy machine it takes minutes until all idle clients are there, and long to tell them that the server
		// stops.
		limits: func(c *wire.Config) {
			c.MaxClients, c.IdleTimeout, c.DrainTimeout = idle+100, 10*time.Minute, time.Minute
		}})
	if err != nil {
		t.Fatal(err)
	}
	clients := newNetwork(t, f.address)
	s := &soak{t: t, address: clients.Address(), stop: make(chan struct{}), answers: map[string]string{},
		served: map[string]int{}, refused: map[string]int{}}
	const seed = 5
	t.Logf("seed %d, %v", seed, lasts)

	var running gosync.WaitGroup
	for i, kind := range []func(*rand.Rand) bool{s.analyst, s.analyst, s.analyst, s.transaction, s.pipeline, s.vanisher,
		s.slowReader, s.crowd, s.canceler} {
		running.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for s.going() {
				if !kind(r) {
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	s.weather(lasts, rand.New(rand.NewPCG(seed, 99)), cluster, guests, readers, clients)
	// A storm may be over before each kind of client had a moment that was long enough for it, so who got through in it
	// is a draw. That all get through behind it, while all the others still ask, is not.
	for end := time.Now().Add(hang); len(s.neverServed()) > 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	close(s.stop)
	running.Wait()
	t.Logf("served %v, refused %v, %d different answers", s.served, s.refused, len(s.answers))
	if kinds := s.neverServed(); len(kinds) > 0 {
		t.Errorf("never served were: %s", strings.Join(kinds, ", "))
	}

	releases := s.goodWeather(f, idle)
	s.nothingLeft(cluster, file, releases)
}

// soakSize is how long the storm lasts, and how many clients are idle at its end.
func soakSize(t *testing.T) (lasts time.Duration, idle int) {
	t.Helper()
	lasts, idle = time.Duration(nightly.Or(8, 4))*time.Second, 150
	if text := os.Getenv(soakEnv); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(os.Getenv(soakIdleEnv), &idle); err != nil {
			t.Fatal(err)
		}
	}
	return lasts, idle
}

// goodWeather looks whether everybody is served behind the storm, idle clients too, and told when the server stops. It
// returns how many releases were charged.
func (s *soak) goodWeather(f *fugu, idle int) (releases int) {
	t := s.t
	c := connect(t, (&fugu{address: f.address}).dsn("alice"))
	for sql, want := range s.answers {
		if got := rows(t, c, sql); got != want {
			t.Errorf("%s\nanswered\n%s\nbefore it was\n%s", sql, got, want)
		}
	}
	_, releases = spent(t, c)
	if releases < len(s.answers) {
		t.Errorf("%d releases were charged; %d answers were given", releases, len(s.answers))
	}
	sitting := make([]*peer, idle)
	for i := range sitting {
		sitting[i] = dial(t, f.dsn("alice"))
	}
	for _, p := range sitting {
		p.patiently()
		p.Send(t, query("SELECT 'still here'"))
		if got := p.until(t, ready(1)); !contains(got, "still here") {
			t.Fatalf("an idle client got %s", got)
		}
	}
	if err := f.stop(); err != nil {
		t.Error(err)
	}
	for _, p := range sitting {
		p.patiently()
		if rest, _ := io.ReadAll(p.Conn); strings.Count(string(rest), "FATAL\x00C57P01\x00") != 1 {
			t.Fatalf("an idle client was told %q when the server stopped", rest)
		}
	}
	return releases
}

// protectedStatements is how many different statements on protected data the clients have.
const protectedStatements = 24

func protectedStatement(i int) string {
	return fmt.Sprintf("SELECT sex, count(*) FROM adult WHERE age > %d GROUP BY sex ORDER BY sex", 20+i)
}

func newNetwork(t *testing.T, target string) *badnet.Network {
	t.Helper()
	n, err := badnet.New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

func (s *soak) going() bool {
	select {
	case <-s.stop:
		return false
	default:
		return true
	}
}

// neverServed lists the kinds of clients that ask for something and have not got it yet.
func (s *soak) neverServed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, kind := range []string{"analyst", "transaction", "pipeline", "slow reader", "crowd", "canceler"} {
		if s.served[kind] == 0 {
			out = append(out, kind)
		}
	}
	return out
}

// weather makes things go wrong for a time, and then right again.
func (s *soak) weather(lasts time.Duration, r *rand.Rand, cluster *pgcluster.Cluster, networks ...*badnet.Network) {
	restart := time.Now().Add(lasts / 4)
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		time.Sleep(time.Duration(50+r.IntN(250)) * time.Millisecond)
		n := networks[r.IntN(len(networks))]
		switch r.IntN(6) {
		case 0:
			n.Reset()
		case 1:
			n.ResetAfter(1 + r.Int64N(5000))
		case 2:
			n.Set(badnet.Weather{Delay: 2 * time.Millisecond, Pieces: 1 + r.IntN(100)})
		case 3:
			n.Set(badnet.Weather{Frozen: true})
		case 4:
			n.Set(badnet.Weather{Closed: true})
		case 5:
			_ = cluster.Exec(context.Background(), "adult",
				fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE usename IN ('fugu_guest', 'fugu_reader') ORDER BY md5(pid::text || '%d') LIMIT 3`, r.Int64()))
		}
		if time.Now().After(restart) {
			restart = time.Now().Add(max(lasts/4, 2*time.Second))
			cluster.Kill()
			time.Sleep(100 * time.Millisecond)
			if err := cluster.Restart(context.Background()); err != nil {
				s.t.Error(err)
				return
			}
		}
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		if n.Set(badnet.Weather{}); r.IntN(3) == 0 {
			time.Sleep(300 * time.Millisecond) // somebody has to get through
		}
	}
	for _, n := range networks {
		n.ResetAfter(0)
	}
}

// nothingLeft checks that Fugu has left nothing behind, and that the ledger has what was charged.
func (s *soak) nothingLeft(cluster *pgcluster.Cluster, file string, releases int) {
	t := s.t
	eventually(t, func() bool {
		buf := make([]byte, 16<<20)
		stacks := string(buf[:runtime.Stack(buf, true)])
		for _, room := range []string{"fugu/wire.", "fugu/pipeline.", "fugu/answer.", "fugu/upstream.",
			"pgxpool."} {
			if contains(stacks, room) {
				return false
			}
		}
		return true
	}, "no goroutine of Fugu's is left")
	truth := connect(t, cluster.DSN("postgres", "adult"))
	eventually(t, func() bool {
		return rows(t, truth,
			"SELECT count(*) FROM pg_stat_activity WHERE usename IN ('fugu_guest', 'fugu_reader')") == "[\"0\"]\n"
	}, "PostgreSQL has no session of Fugu's left")
	// it checks that its sums are right
	l, err := ledger.Open(t.Context(), "sqlite:"+file, ledger.Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	stored, err := l.Releases(t.Context(), "adult", 1000)
	if err != nil || len(stored) != releases {
		t.Errorf("%d answers are stored, %v; %d were charged", len(stored), err, releases)
	}
	// What a client or the network cuts off while rows are read has been paid for, and is paid for again: nothing else
	// is charged more than once.
	abandoned := 0
	if _, err := l.Audit(t.Context(), func(link audit.Link) error {
		e, err := link.Entry()
		if e.Event == audit.Abandoned {
			abandoned++
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if releases > protectedStatements+abandoned {
		t.Errorf("%d releases were charged, for %d different statements and %d that were cut off", releases,
			protectedStatements, abandoned)
	}
	for _, a := range stored {
		if a.Failed {
			t.Errorf("a release is of a statement that failed, and none can")
		}
	}
}
