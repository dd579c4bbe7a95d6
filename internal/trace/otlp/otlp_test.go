package otlp

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"

	"fugu/internal/trace"
	"fugu/sqlstate"
	"fugu/test/collector"
)

func open(t *testing.T, endpoint string, sample float64, log *slog.Logger) *Exporter {
	t.Helper()
	e, err := Open(t.Context(), Options{Endpoint: endpoint, Sample: sample, Version: "1.2.3", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	e.patience = 2 * time.Minute // on a busy machine
	return e
}

// answered tells a recorder of an answer whose scan fails.
func answered(t *testing.T, e *Exporter) {
	t.Helper()
	ctx, whole := trace.Begin(trace.With(t.Context(), e), trace.Answer)
	whole.Tell(trace.Facts{Dataset: "adult", Statement: "0123456789abcdef"})
	_, scan := trace.Begin(ctx, trace.Scan)
	scan.Tell(trace.Facts{Mechanism: "wasserstein"})
	var failed error = sqlstate.New(sqlstate.StatisticsFailed, "zanzibarquokka")
	scan.End(&failed)
	var well error
	whole.End(&well)
}

// What is told arrives as two spans, the one within the other, with what was told and nothing beside.
func TestSpans(t *testing.T) {
	c := collector.Start(t)
	e := open(t, c.URL, 1, slog.New(slog.DiscardHandler))
	answered(t, e)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	spans := c.Spans()
	if len(spans) != 2 || spans[0].Name != "scan" || spans[1].Name != "answer" {
		t.Fatalf("came %+v", spans)
	}
	scan, whole := spans[0], spans[1]
	if scan.Parent != whole.ID || scan.Trace != whole.Trace || whole.Parent != "" {
		t.Errorf("%+v is not within %+v", scan, whole)
	}
	if scan.Attributes["fugu.mechanism"] != "wasserstein" || scan.Attributes["db.response.status_code"] != "PV005" ||
		len(scan.Attributes) != 2 {
		t.Errorf("of the scan came %v", scan.Attributes)
	}
	if whole.Attributes["fugu.dataset"] != "adult" || whole.Attributes["fugu.statement"] != "0123456789abcdef" ||
		len(whole.Attributes) != 2 {
		t.Errorf("of the whole came %v", whole.Attributes)
	}
	text := c.Text()
	if strings.Contains(text, "zanzibarquokka") || !strings.Contains(text, "1.2.3") {
		t.Errorf("a message came, or no version did:\n%s", text)
	}
}

// Without a share nothing is sent.
func TestSampleOfNone(t *testing.T) {
	c := collector.Start(t)
	e := open(t, c.URL, 0, slog.New(slog.DiscardHandler))
	answered(t, e)
	if err := e.Close(t.Context()); err != nil || len(c.Spans()) != 0 {
		t.Errorf("%v: came %+v", err, c.Spans())
	}
}

// A collector that refuses is in the log, once for many refusals, and holds up nobody.
func TestRefused(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	var text bytes.Buffer
	e := open(t, s.URL, 1, slog.New(slog.NewTextHandler(&text, nil)))
	answered(t, e)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		otel.Handle(errors.New("refused again"))
	}
	if n := strings.Count(text.String(), "traces could not be sent"); n != 1 {
		t.Errorf("%d complaints:\n%s", n, text.String())
	}
}

// A collector that is busy is asked again, and one that refuses is not.
func TestRetry(t *testing.T) {
	for _, c := range []struct {
		statuses []int // of its answers; then it takes what comes
		posts    int
		lost     bool
	}{
		{nil, 1, false},
		{[]int{http.StatusServiceUnavailable, http.StatusTooManyRequests}, 3, false},
		{[]int{http.StatusBadRequest}, 1, true},
	} {
		posts := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if posts++; posts <= len(c.statuses) {
				w.WriteHeader(c.statuses[posts-1])
			}
		}))
		client, err := newClient(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		client.first = time.Millisecond
		if err := client.UploadTraces(t.Context(), nil); (err != nil) != c.lost || posts != c.posts {
			t.Errorf("a collector that answers %v: %d posts, %v", c.statuses, posts, err)
		}
		s.Close()
	}
}

// Headers and the authority of a certificate come from the environment, those for traces before those for all. A
// collector whose certificate nobody vouches for is told nothing.
func TestEnvironment(t *testing.T) {
	var came http.Header
	s := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { came = r.Header }))
	defer s.Close()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	send := func() error {
		t.Helper()
		client, err := newClient(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		return client.post(t.Context(), nil)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=for all")
	if err := send(); err == nil || came != nil {
		t.Errorf("an unknown authority: %v, %v", err, came)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", file)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-key=a%2Cb, Authorization = Bearer%20c")
	if err := send(); err != nil || came.Get("X-Key") != "a,b" || came.Get("Authorization") != "Bearer c" {
		t.Errorf("%v: %v", err, came)
	}
	for _, bad := range []string{"secret", "=secret", "a=%zz"} {
		if _, err := parseHeaders(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
