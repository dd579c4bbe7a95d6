package admin

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const secret = "0123456789abcdef0123456789abcdef"

func tokenFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "admin.token")
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

// figured are figures in which nothing is 0.
func figured(context.Context) Figures {
	return Figures{Connections: 3, Sessions: 2, SessionsLimit: 9, Begun: 12, Statements: map[string]int64{"plain": 4},
		Errors: map[string]int64{"PV001": 5}, Pool: &Pool{Guests: 2, Idle: 1, Limit: 20, Waiting: 6},
		Waits:     []Wait{{5 * time.Millisecond, 1}, {20 * time.Millisecond, 10}, {0, 100}},
		Answering: 7, SearchesRunning: 1, SearchesWaiting: 2, SearchesLimit: 4, Datasets: 1,
		Budgets: []Budget{{"adult", "everybody", "high_income", 10, 2.5, 8}}}
}

func options(t *testing.T) Options {
	t.Helper()
	token, err := ReadToken(tokenFile(t, secret+"\n", 0o600))
	if err != nil {
		t.Fatal(err)
	}
	health := NewHealth(slog.New(slog.DiscardHandler), Check{Name: "ledger"})
	health.Loaded("policies", nil)
	return Options{Health: health, Figures: figured, Token: token}
}

func get(o Options, path, authorization string) (status int, page string) {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	Handler(o).ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// Metrics are for those who know the token; health is for everybody, and nothing else is there.
func TestWhoSeesWhat(t *testing.T) {
	o := options(t)
	none := o
	none.Token = nil
	for _, c := range []struct {
		o                   Options
		path, authorization string
		status              int
	}{
		{o, "/healthz", "", 200},
		{o, "/readyz", "", 200},
		{o, "/metrics", "Bearer " + secret, 200},
		{o, "/metrics", "bearer  " + secret, 200},
		{o, "/metrics", "", 401},
		{o, "/metrics", "Bearer", 401},
		{o, "/metrics", "Basic " + secret, 401},
		{o, "/metrics", secret, 401},
		{o, "/metrics", "Bearer " + secret[1:], 401},
		{o, "/metrics", "Bearer " + secret + "0", 401},
		{none, "/metrics", "Bearer " + secret, 403},
		{none, "/metrics", "Bearer", 403},
		{none, "/readyz", "", 200},
		{o, "/", "Bearer " + secret, 404},
		{o, "/debug/pprof/", "Bearer " + secret, 404},
	} {
		if status, page := get(c.o, c.path, c.authorization); status != c.status || strings.Contains(page, secret) {
			t.Errorf("%s with %q: %d, want %d: %s", c.path, c.authorization, status, c.status, page)
		}
	}
	w := httptest.NewRecorder()
	Handler(o).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/readyz", strings.NewReader("x")))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// A token that others can read, or that can be guessed, is none; what is wrong with a new one leaves the old one.
func TestToken(t *testing.T) {
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string
	}{
		{secret, 0o640, "chmod 600"}, {secret, 0o604, "chmod 600"}, {secret, 0o400, ""}, {secret[1:], 0o600, "openssl"},
		{secret[:16] + " " + secret[16:], 0o600, "openssl"}, {"", 0o600, "openssl"},
	} {
		_, err := ReadToken(tokenFile(t, c.text, c.mode))
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) ||
			c.text != "" && strings.Contains(err.Error(), c.text)) {
			t.Errorf("%q with %04o: %v", c.text, c.mode, err)
		}
	}
	if _, err := ReadToken(t.TempDir()); err == nil {
		t.Error("a directory is a token")
	}
	path := tokenFile(t, secret, 0o600)
	token, err := ReadToken(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(path, 0o644), token.Reload()); err == nil {
		t.Error("a token that others can read was taken over")
	}
	if status, _ := get(Options{Health: options(t).Health, Figures: figured, Token: token}, "/metrics",
		"Bearer "+secret); status != 200 {
		t.Errorf("the old token: %d", status)
	}
}

// Whether it is ready is what its checks have said; why one fails is for operators alone; and a reload that failed is
// told, and takes nobody's place.
func TestReadiness(t *testing.T) {
	failing := errors.New("the host db.example.com is gone")
	o := options(t)
	var wrong error
	probe := func(context.Context) error { return wrong }
	o.Health = NewHealth(slog.New(slog.DiscardHandler), Check{"postgresql", probe})
	check := func(when, authorization string, status int, words ...string) {
		t.Helper()
		o.Health.Probe(t.Context())
		got, page := get(o, "/readyz", authorization)
		for _, w := range words {
			if got != status || !strings.Contains(page, w) {
				t.Errorf("%s: %d, want %d with %q: %s", when, got, status, w, page)
			}
		}
		if authorization == "" && strings.Contains(page, "example") {
			t.Errorf("%s: told to everybody: %s", when, page)
		}
	}
	check("at first", "", 200, "ready\n", "ok      postgresql")
	wrong = failing
	check("without a database", "", 503, "not ready\n", "failed  postgresql\n")
	check("without a database", "Bearer "+secret, 503, "failed  postgresql: the host db.example.com is gone")
	wrong = nil
	o.Health.Loaded("policies", errors.New("shop.example.yaml:1:1: nonsense"))
	check("after a bad reload", "", 200, "ready\n", "failed  policies: not loaded")
	check("after a bad reload", "Bearer "+secret, 200, "shop.example.yaml:1:1: nonsense")
	o.Health.Loaded("policies", nil)
	check("after a good one", "", 200, "ok      policies: loaded")
	o.Health.Leave()
	check("when it leaves", "", 503, "not ready")
}

// family finds the name of what a line of the metrics is of.
var family = regexp.MustCompile(`(?m)^([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{[^}]*\})? `)

// Every metric of the catalogue is shown, is explained in the manual, and nothing else of the process is seen than what
// is on its list.
func TestMetrics(t *testing.T) {
	_, page := get(options(t), "/metrics", "Bearer "+secret)
	manual, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range catalogue {
		known[m.name] = true
	}
	for name := range process {
		known[name] = true
	}
	for name := range known {
		if !strings.Contains(page, "\n"+name+" ") && !strings.Contains(page, "\n"+name+"{") &&
			!strings.Contains(page, "\n"+name+"_bucket{") {
			t.Errorf("%s is not shown", name)
		}
		if !strings.Contains(string(manual), "`"+name+"`") {
			t.Errorf("docs/operations.md does not explain %s", name)
		}
	}
	for _, m := range family.FindAllStringSubmatch(page, -1) {
		if !known[m[1]] {
			t.Errorf("%s is shown, and on no list", m[1])
		}
	}
	for _, line := range []string{
		`fugu_budget_epsilon_left{dataset="adult",scope="everybody",secret="high_income"} 2.5`,
		`fugu_protected_wait_seconds_bucket{le="0.005"} 1`, `fugu_protected_wait_seconds_bucket{le="0.02"} 11`,
		`fugu_protected_wait_seconds_bucket{le="+Inf"} 111`, `fugu_protected_wait_seconds_count 111`,
		// Each counts as its upper bound, and what is beyond all as the last: 0.005 + 10*0.02 + 100*0.02.
		`fugu_protected_wait_seconds_sum 2.205`,
		`fugu_statements_total{kind="plain"} 4`, `fugu_errors_total{code="PV001"} 5`, `fugu_up{check="ledger"} 1`,
		`fugu_load_success{what="policies"} 1`, `fugu_pool_waiting 6`,
	} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("%s is missing:\n%s", line, page)
		}
	}
}

// What moves when a reading ends, or by how long a true value is, is gathered by the library and not shown. Without the
// list it would be: the planted leak.
func TestWithheld(t *testing.T) {
	_, page := get(options(t), "/metrics", "Bearer "+secret)
	for _, name := range []string{"go_goroutines", "go_threads", "go_gc_duration_seconds", "process_open_fds",
		"process_network_receive_bytes_total", "go_memstats_alloc_bytes_total"} {
		if strings.Contains(page, name) {
			t.Errorf("%s is shown", name)
		}
	}
	all, err := registry(options(t)).Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, f := range all {
		names = append(names, f.GetName())
	}
	for _, name := range []string{"go_goroutines", "process_open_fds"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not gathered: nothing was tested", name)
		}
	}
	coarse, err := shown{registry(options(t))}.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range coarse {
		if f.GetName() != "process_resident_memory_bytes" {
			continue
		}
		if v := f.Metric[0].GetGauge().GetValue(); v == 0 || v != float64(int64(v)>>24<<24) {
			t.Errorf("memory in use is %v, which is no multiple of 16 MiB", v)
		}
	}
}

// It answers over a network, ends with its context, and says nothing of a client that speaks nonsense.
func TestServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, options(t)) }()
	response, err := http.Get("http://" + l.Addr().String() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || string(body) != "alive\n" {
		t.Errorf("%q, %v", body, err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
