// Package admin serves what operators ask of a running proxy over HTTP: whether it lives (/healthz), whether it can
// answer (/readyz), and its metrics (/metrics). Package console has the pages for people, behind the same token.
//
// It reads no row, no statistic and no statement: it is given numbers and names by functions of whoever puts a proxy
// together, and imports nothing of ours. Whoever may see the metrics may be an analyst, and ask for them a thousand
// times a second. So there is nothing in them that moves between the moment at which protected rows have been read and
// the one at which the client is told, and nothing that is measured more finely than clients measure it themselves.
// docs/operations.md lists what there is, and what is left out and why.
package admin

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Options say what an address for operators shows.
type Options struct {
	Health  *Health
	Figures func(context.Context) Figures // read anew for each request of the metrics
	Token   *Token                        // of who may see more than whether it lives and is ready; nil: nobody
	TLS     *tls.Config                   // nil: it speaks HTTP in the clear
	Console http.Handler                  // of the pages for people, below /console/; nil: there are none
}

// Limits of one request. What is asked here has no body, or a form of a few kilobytes, and every reply is small.
const (
	headerTime  = 5 * time.Second
	requestTime = 20 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 16 << 10
)

// Handler answers the requests of operators.
func Handler(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, "alive\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		status, page := o.Health.page(o.Token.admits(r))
		write(w, status, page)
	})
	mux.Handle("GET /metrics", o.Token.guard(metrics(o)))
	if o.Console != nil {
		mux.Handle("/console/", o.Console)
		mux.Handle("GET /{$}", http.RedirectHandler("/console/", http.StatusSeeOther))
	}
	return mux
}

// Serve answers operators until ctx ends. It closes the listener. The error says why it ended before.
func Serve(ctx context.Context, l net.Listener, o Options) error {
	server := &http.Server{Handler: Handler(o), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime,
		WriteTimeout: requestTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		// What goes wrong with a connection is told to nobody: it would repeat what was sent.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelWarn)}
	if o.TLS != nil {
		l = tls.NewListener(l, o.TLS)
	}
	closing := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer closing()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// write sends a page of text, which nobody is to keep.
func write(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
