package console

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"time"

	"fugu/admin"
)

//go:embed assets/*.html
var sources embed.FS

var templates = template.Must(template.New("").Funcs(words).ParseFS(sources, "assets/*.html"))

// view is what a template is filled with.
type view struct {
	Title, Path string // the page's heading, and where it is
	Alert, Hint string // what went wrong; empty: nothing
	In          bool   // somebody is signed in
	Version     string
	Now         time.Time
	Body        any

	template string
}

// Nav are the pages, in order.
func (view) Nav() [][2]string {
	return [][2]string{{"/console/", "Overview"}, {"/console/budgets", "Budgets"}, {"/console/record", "Record"},
		{"/console/certificates", "Certificates"}, {"/console/policies", "Policies"}, {"/console/twins", "Twins"},
		{"/console/noise", "Noise"}}
}

// page makes a page, if not too many are being made.
func (c *console) page(fill func(context.Context) (view, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A page reads the ledger and the database, so there is a limit to how many are made at a time.
		ctx, stop := context.WithTimeout(r.Context(), pageTime)
		defer stop()

		select {
		case c.pages <- struct{}{}:
			defer func() { <-c.pages }()
		case <-ctx.Done():
			http.Error(w, "too many pages are being made", http.StatusServiceUnavailable)
			return
		}

		v, err := fill(ctx)
		if err != nil {
			failed := c.failed(err)
			failed.Title = v.Title
			c.render(w, http.StatusServiceUnavailable, "failed", c.signed(failed, r.URL.Path))
			return
		}
		c.render(w, http.StatusOK, v.template, c.signed(v, r.URL.Path))
	})
}

// signed is a page as who is signed in sees it.
func (c *console) signed(v view, path string) view {
	v.In, v.Path, v.Version, v.Now = true, path, c.Version, time.Now().UTC()
	return v
}

// failed says what went wrong, as far as it says so itself. Of other errors the log has the kind.
func (c *console) failed(err error) view {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return view{Alert: p.Message, Hint: p.Hint}
	case errors.Is(err, context.DeadlineExceeded):
		return view{Alert: "This took too long, and was given up.", Hint: "Try again when the server has less to do."}
	}
	return view{Alert: "This cannot be shown now.", Hint: "The overview says which part of the proxy does not answer."}
}

// render writes a page. It is made before the first byte leaves, so that one that fails is not half of one.
func (c *console) render(w http.ResponseWriter, status int, name string, v view) {
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(&page, name, v); err != nil {
		c.Log.Error("a page of the console was not made", "page", name, "error", err)
		http.Error(w, "this page cannot be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes())
}

// overview is whether the proxy is well, and who is connected.
func (c *console) overview(ctx context.Context) (view, error) {
	f := c.Figures(ctx)
	up, loads := c.Health.State()
	return view{Title: "Overview", template: "overview", Body: struct {
		Ready      bool
		Leaving    bool
		Checks     map[string]bool
		Loads      []admin.Reload
		Figures    admin.Figures
		Statements Bars
		Errors     Bars
		Waits      Bars
	}{ready(up) && !c.Health.Leaving(), c.Health.Leaving(), up, loads, f,
		counted("Statements by kind", f.Statements), counted("Errors that clients were told, by SQLSTATE", f.Errors),
		waited(f.Waits)}}, nil
}

func ready(up map[string]bool) bool {
	for _, is := range up {
		if !is {
			return false
		}
	}
	return true
}

// budgets are the accounts, now and over time.
func (c *console) budgets(ctx context.Context) (view, error) {
	v := view{Title: "Budgets", template: "budgets"}
	b, err := c.Source.Budgets(ctx)
	v.Body = struct {
		Budgets
		Charts []Chart
	}{b, spentCharts(b.Accounts)}
	return v, err
}

// record is what was answered and refused.
func (c *console) record(ctx context.Context) (view, error) {
	v := view{Title: "Record", template: "record"}
	all, err := c.Source.Events(ctx)
	refused, codes := 0, map[string]int64{}
	for _, e := range all {
		if e.What == "refused" {
			refused += int(max(1, e.Times))
			codes[e.Code] += max(1, e.Times)
		}
	}
	v.Body = struct {
		Events []Event
		Codes  Bars
	}{all, counted("Refusals by SQLSTATE", codes)}
	return v, err
}

// certificates are what policies promise, and what holds for the latest answers by themselves.
func (c *console) certificates(ctx context.Context) (view, error) {
	v := view{Title: "Certificates", template: "certificates"}
	policies, err := c.Source.Policies(ctx)
	if err != nil {
		return v, err
	}
	all, err := c.Source.Events(ctx)
	var given []Event
	for _, e := range all {
		if len(e.Certificates) > 0 {
			given = append(given, e)
		}
	}
	v.Body = struct {
		Policies []Policy
		Given    []Event
	}{policies, given}
	return v, err
}

// policies are the secrets, and how a statistic is distributed under the values of a pair.
func (c *console) policies(ctx context.Context) (view, error) {
	v := view{Title: "Policies", template: "policies"}
	policies, err := c.Source.Policies(ctx)
	var out []drawnPolicy
	for _, p := range policies {
		d := drawnPolicy{Policy: p}
		for _, picture := range p.Pictures {
			d.Drawn = append(d.Drawn, drawn(picture))
		}
		out = append(out, d)
	}
	v.Body = out
	return v, err
}

// twins are the blurred copies.
func (c *console) twins(ctx context.Context) (view, error) {
	v := view{Title: "Twins", template: "twins"}
	twins, err := c.Source.Twins(ctx)
	var out []drawnTwin
	for _, t := range twins {
		out = append(out, drawnTwin{t, groupChart(t)})
	}
	v.Body = out
	return v, err
}
