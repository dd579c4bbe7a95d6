package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/certs"
	"fugu/test/pgcluster"
)

// Operators are answered over HTTPS, with the certificate of clients, a token that may be changed, and the word of a
// policy that could not be loaded; while the last clients are waited for the proxy says that it is not ready.
func TestOperators(t *testing.T) {
	path := setting(t, "  method: trust\n", "  method: trust\ntls:\n  certificate: server.crt\n  key: server.key\n",
		"ledger:", "admin: 127.0.0.1:0\nadmin_token: admin.token\nadmin_tls: require\nledger:")
	dir := filepath.Dir(path)
	authority := certs.NewAuthority(t, x509.ECDSAWithSHA256)
	authority.Issue(t, "localhost").Write(t, dir, "server")
	certs.Write(t, dir, "admin.token", []byte(operatorToken))
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.PEM)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}}}
	status := func(page, token string) int {
		t.Helper()
		got, _ := c.pageBy(t, client, "https", page, token)
		return got
	}

	for _, k := range []struct {
		page, token string
		want        int
	}{{"/healthz", "", 200}, {"/readyz", "", 200}, {"/metrics", "", 401}, {"/metrics", operatorToken, 200}} {
		if got := status(k.page, k.token); got != k.want {
			t.Errorf("%s with %q: %d, want %d", k.page, k.token, got, k.want)
		}
	}
	if got, _ := c.pageBy(t, http.DefaultClient, "http", "/healthz", ""); got != http.StatusBadRequest {
		t.Errorf("in the clear: %d", got)
	}

	// A policy that is wrong is told to who has the token; another token is taken over with it.
	other := c.reloadWrongly(t, dir)
	if got, text := c.pageBy(t, client, "https", "/readyz", other); got != 200 ||
		!strings.Contains(text, "failed  policies: not loaded") || !strings.Contains(text, "adult.policy.yaml:") {
		t.Errorf("%d: %s", got, text)
	}
	if got := status("/metrics", operatorToken); got != 401 {
		t.Errorf("with the token of before: %d", got)
	}

	c.drains(t, func() bool { return status("/readyz", "") == 503 })
}

// reloadWrongly gives the proxy a policy that is wrong, and another token, which it returns.
func (c *child) reloadWrongly(t *testing.T, dir string) (token string) {
	t.Helper()
	file := filepath.Join(dir, "adult.policy.yaml")
	policy, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	certs.Write(t, dir, "adult.policy.yaml", []byte(strings.Replace(string(policy), "version: 1", "version: one", 1)))
	token = strings.Repeat("f", 32)
	certs.Write(t, dir, "admin.token", []byte(token))
	if c.reload(t) {
		t.Fatal("a wrong policy was taken over")
	}
	return token
}

// drains ends the proxy while a statement runs: until that has ended it says that it is not ready, and then it goes.
func (c *child) drains(t *testing.T, notReady func() bool) {
	t.Helper()
	direct, err := pgx.Connect(t.Context(), pgcluster.Shared(t).DSN("postgres", "adult"))
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close(context.WithoutCancel(t.Context()))
	of := func(sql string) (is bool) {
		t.Helper()
		if err := direct.QueryRow(t.Context(), sql).Scan(&is); err != nil {
			t.Fatal(err)
		}
		return is
	}
	of("SELECT pg_try_advisory_lock(1)")

	// The statement ends when it is let, however long it takes until all is seen.
	session := c.connect(t)
	done := make(chan error, 1)
	go func() {
		_, err := session.Exec(t.Context(), "SELECT pg_advisory_lock_shared(1)")
		done <- err
	}()
	eventually(t, "the statement runs", func() bool {
		return of("SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)")
	})
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it says that it is not ready", notReady)
	of("SELECT pg_advisory_unlock(1)")
	if err := <-done; err != nil {
		t.Errorf("the statement that was waited for: %v", err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
