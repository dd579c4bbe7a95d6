// Package console serves pages for the people who keep the data: health, budgets, what was answered and refused, what
// the policies promise, twins, and what noise a statement would have. Pages are made on the server, with no script and
// nothing from elsewhere; package admin has the address and the token.
//
// It imports nothing of ours but package admin, and there is no way from it to a row, a statistic or a statement of a
// client's: it shows what a Source says, whose promise that is. docs/threat-model.md lists what a keeper sees.
package console

import (
	"context"
	"embed"
	"log/slog"
	"net/http"
	"time"

	"fugu/admin"
)

// Options say what the console shows, and to whom.
type Options struct {
	Token   *admin.Token // nil: the pages are shown to nobody
	Health  *admin.Health
	Figures func(context.Context) admin.Figures
	Source  Source
	Version string
	Log     *slog.Logger
}

// Limits of the pages. Some read the ledger or the references, and are for people: a few at a time are enough.
const (
	pageTime       = 12 * time.Second
	pagesAtOnce    = 4
	statementTime  = 15 * time.Second
	statementBytes = 16 << 10
	tokenBytes     = 1 << 10
)

// console is what answers for the pages.
type console struct {
	Options
	pages   chan struct{} // one for each page that is made
	pricing chan struct{} // of one: a statement is priced
}

//go:embed assets/style.css assets/icon.svg
var assets embed.FS

// Handler answers for everything below /console/.
func Handler(o Options) http.Handler {
	c := &console{Options: o, pages: make(chan struct{}, pagesAtOnce), pricing: make(chan struct{}, 1)}
	mux := http.NewServeMux()

	// What everybody may see: how the pages look, and the form for the token.
	for _, name := range []string{"style.css", "icon.svg"} {
		mux.HandleFunc("GET /console/"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, assets, "assets/"+name)
		})
	}
	mux.HandleFunc("GET /console/login", c.form)
	mux.HandleFunc("POST /console/login", c.login)
	mux.HandleFunc("POST /console/logout", c.logout)

	for path, page := range map[string]func(context.Context) (view, error){
		"/console/{$}": c.overview, "/console/budgets": c.budgets, "/console/record": c.record,
		"/console/certificates": c.certificates, "/console/policies": c.policies, "/console/twins": c.twins,
	} {
		mux.Handle("GET "+path, c.guard(c.page(page)))
	}
	mux.Handle("GET /console/noise", c.guard(http.HandlerFunc(c.noiseForm)))
	mux.Handle("POST /console/noise", c.guard(http.HandlerFunc(c.noise)))

	// A form of another site's is not taken, whatever a browser sends along with it.
	return secured(http.NewCrossOriginProtection().Handler(mux))
}

// policy of what a page may load: its own style and icon. No script runs, no frame shows it, and no form leaves.
const contentPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'"

// secured has browsers keep a page to itself.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{"Content-Security-Policy": contentPolicy,
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control": "no-store"} {
			w.Header().Set(name, value)
		}
		next.ServeHTTP(w, r)
	})
}

// guard lets those through who have given the token, and shows others where to give it.
func (c *console) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case c.Token == nil:
			http.Error(w, "admin_token is not set in fugu.yaml, so the console is shown to nobody",
				http.StatusForbidden)
		case c.Token.Admits(r):
			next.ServeHTTP(w, r)
		case r.Header.Get("Authorization") != "" || r.Method != http.MethodGet:
			c.render(w, http.StatusUnauthorized, "login", view{Title: "Sign in", Alert: "This is not the token."})
		default:
			http.Redirect(w, r, "/console/login", http.StatusSeeOther)
		}
	})
}

// form is where the token is given.
func (c *console) form(w http.ResponseWriter, r *http.Request) {
	if c.Token.Admits(r) {
		http.Redirect(w, r, "/console/", http.StatusSeeOther)
		return
	}
	c.render(w, http.StatusOK, "login", view{Title: "Sign in"})
}

// login begins a session. The token is in the body of the request: no address or log has it.
func (c *console) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, tokenBytes)
	if err := r.ParseForm(); err != nil || !c.Token.Begin(w, r, r.PostForm.Get("token")) {
		c.render(w, http.StatusUnauthorized, "login", view{Title: "Sign in", Alert: "This is not the token."})
		return
	}
	http.Redirect(w, r, "/console/", http.StatusSeeOther)
}

func (c *console) logout(w http.ResponseWriter, r *http.Request) {
	c.Token.End(w, r)
	http.Redirect(w, r, "/console/login", http.StatusSeeOther)
}
