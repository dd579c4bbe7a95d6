package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"fugu/admin"
)

const secret = "0123456789abcdef0123456789abcdef"

// told is a source with something of everything; err is what each of its methods returns.
type told struct {
	err   error
	block chan struct{} // not nil: a curve waits for it
	began chan struct{}
}

const markup = `<script>alert("x")</script>`

func (s *told) Budgets(context.Context) (Budgets, error) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return Budgets{Accounts: []Account{{Dataset: "adult", Scope: "everybody", Secret: markup, Limit: 10, Spent: 3,
		Left: 7, Answers: 2, History: []Spent{{at, 1}, {at.Add(time.Hour), 3}}}},
		Payers: []Payer{{"adult", markup, 2, 3, at}}}, s.err
}

func (s *told) Events(context.Context) ([]Event, error) {
	return []Event{{What: "refused", User: markup, Code: "PV001", Times: 3}, {What: "answer", Answer: 1,
		Prices: []Price{{"x", .5}}, Certificates: []Certificate{{Secret: "x", Pair: "1 against 2"}}}}, s.err
}

func (s *told) Policies(context.Context) ([]Policy, error) {
	return []Policy{{Dataset: "adult", Secrets: []Secret{{Name: "rich", Property: markup}}, Limit: 10,
		Pictures: []Picture{{Secret: "rich", Statement: "SELECT 1", Values: [2]string{"0.1", "0.2"},
			Means: [2]float64{100, 200}, Sampling: 10, NoiseSD: 50, Noise: []float64{-50, 50}},
			{Secret: "poor", Problem: &Problem{Message: "it is not fitted"}}}}}, s.err
}

func (s *told) Twins(context.Context) ([]Twin, error) {
	return []Twin{{Dataset: "adult", Table: "t", Built: time.Unix(1e9, 0), Rows: 1234567,
		Classes: []Class{{"rich", 1000, 100, new(5.0)}, {"old", 30, 3, nil}},
		Groups:  []Group{{"rich", 10, 3, 4}, {"rich", 100, 9, 10}}, Known: []Known{{Rows: 5}}}, {Table: "u"}}, s.err
}

func (s *told) Curve(ctx context.Context, statement string) (Curve, error) {
	if s.block != nil {
		close(s.began)
		select {
		case <-s.block:
		case <-ctx.Done():
		}
	}
	return Curve{Dataset: "adult", Components: 1, Columns: []Column{{"count(*)", 12}}, Points: []CurvePoint{
		{1, "laplace", []float64{40}, []float64{80}, nil}, {2, "laplace", []float64{20}, []float64{40}, nil}}}, s.err
}

func handler(t *testing.T, s *told) (http.Handler, *admin.Token) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	token, err := admin.ReadToken(path)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	return Handler(Options{Token: token, Health: admin.NewHealth(log), Source: s, Log: log,
		Figures: func(context.Context) admin.Figures {
			return admin.Figures{Statements: map[string]int64{"plain": 4}, Waits: []admin.Wait{{UpTo: 1}, {}}}
		}}), token
}

func ask(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func get(path string) *http.Request { return httptest.NewRequest(http.MethodGet, path, nil) }

func post(path string, form url.Values) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

func known(r *http.Request) *http.Request {
	r.Header.Set("Authorization", "Bearer "+secret)
	return r
}

var pages = []string{"/console/", "/console/budgets", "/console/record", "/console/certificates",
	"/console/policies", "/console/twins", "/console/noise"}

// Every page is shown to who has the token and to nobody else; what it is told is written as text; and nothing of it
// runs, comes from elsewhere, or is kept.
func TestPages(t *testing.T) {
	h, _ := handler(t, &told{})
	for _, path := range pages {
		if w := ask(h, get(path)); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console/login" {
			t.Errorf("%s without a token: %d", path, w.Code)
		}
		wrong := get(path)
		wrong.Header.Set("Authorization", "Bearer "+secret[1:]+"x")
		if w := ask(h, wrong); w.Code != http.StatusUnauthorized {
			t.Errorf("%s with a wrong token: %d", path, w.Code)
		}

		w := ask(h, known(get(path)))
		page := w.Body.String()
		if w.Code != 200 || !strings.Contains(page, `aria-current="page"`) {
			t.Errorf("%s: %d: %s", path, w.Code, page)
		}
		if strings.Contains(page, "<script") || strings.Contains(page, secret) ||
			regexp.MustCompile(` style="| on[a-z]+="|(src|href|action)="(https?:|//)`).MatchString(page) {
			t.Errorf("%s has what may not stand in it:\n%s", path, page)
		}
		if ids := regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1); repeated(ids) {
			t.Errorf("%s has an id twice: %q", path, ids)
		}
		unlabelled(t, path, page)
		if tables, captions := strings.Count(page, "<table>"), strings.Count(page, "<caption>"); tables != captions {
			t.Errorf("%s has %d tables and %d captions", path, tables, captions)
		}
		for name, want := range map[string]string{"Content-Security-Policy": contentPolicy, "X-Frame-Options": "DENY",
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
	for _, forbidden := range []string{"script-src", "unsafe", "*"} {
		if strings.Contains(contentPolicy, forbidden) {
			t.Errorf("the policy has %s", forbidden)
		}
	}
}

// unlabelled finds cells of a page's tables that are not called what their columns are, by which a narrow screen shows
// them below each other.
func unlabelled(t *testing.T, path, page string) {
	t.Helper()
	tag := regexp.MustCompile(`<(/thead|tr|th|td)(?: [^>]*?(?:data-label="([^"]*)")?)?>` +
		`([^<]*(?:<span class="soft">[^<]*)?)`)
	for _, table := range strings.Split(page, "<table>")[1:] {
		var heads []string
		at, body := 0, false
		for _, m := range tag.FindAllStringSubmatch(table[:strings.Index(table, "</table>")], -1) {
			switch {
			case m[1] == "/thead":
				body = true
			case m[1] == "tr":
				at = 0
			case !body:
				heads = append(heads, strings.TrimPrefix(m[3], `<span class="soft">`))
			default:
				if m[1] == "td" && (at >= len(heads) || m[2] != heads[at]) {
					t.Errorf("%s: cell %d of %q is called %q", path, at, heads, m[2])
				}
				at++
			}
		}
	}
}

func repeated(ids [][]string) bool {
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id[1]] {
			return true
		}
		seen[id[1]] = true
	}
	return false
}

// How far a size is off is shown where it is known, and only there.
func TestErrorsThatAreNotKnown(t *testing.T) {
	h, _ := handler(t, &told{})
	page := ask(h, known(get("/console/twins"))).Body.String()
	for name, want := range map[string]string{"rich": "5", "old": "–"} {
		_, row, _ := strings.Cut(page, `<th scope="row">`+name+"</th>")
		if !strings.Contains(row[:strings.Index(row, "</tr>")+1], `data-label="May be off (sd)">`+want+"<") {
			t.Errorf("%s is not off by %s:\n%s", name, want, page)
		}
	}
}

// A session begins with the token, in a cookie that no script, other site or later time can use; with another token, or
// changed by anybody, it is none.
func TestSession(t *testing.T) {
	h, token := handler(t, &told{})
	if w := ask(h, post("/console/login", url.Values{"token": {secret + "0"}})); w.Code != 401 ||
		len(w.Result().Cookies()) > 0 {
		t.Fatalf("a wrong token: %d", w.Code)
	}
	w := ask(h, post("/console/login", url.Values{"token": {" " + secret + "\n"}}))
	if w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 1 {
		t.Fatalf("the token: %d", w.Code)
	}
	cookie := w.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/console" || cookie.Secure ||
		strings.Contains(cookie.Value, secret) {
		t.Errorf("%+v", cookie)
	}
	secure := post("https://fugu/console/login", url.Values{"token": {secret}})
	if !ask(h, secure).Result().Cookies()[0].Secure {
		t.Error("over TLS, the cookie is sent in the clear, too")
	}

	status := func(value string) int {
		r := get("/console/")
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: value})
		return ask(h, r).Code
	}
	end, code, _ := strings.Cut(cookie.Value, ".")
	for value, want := range map[string]int{cookie.Value: 200, end + "0." + code: 303, "2" + end[1:] + "." + code: 303,
		end + ".": 303, "": 303, "." + code: 303, "0" + cookie.Value: 303} {
		if got := status(value); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
	if w := ask(h, post("/console/logout", nil)); w.Result().Cookies()[0].MaxAge >= 0 {
		t.Error("signing out leaves the cookie")
	}

	// None of the token's own knows another's sessions.
	other, _ := handler(t, &told{})
	r := get("/console/")
	r.AddCookie(cookie)
	if got := ask(other, r).Code; got != 200 {
		t.Errorf("a successor with the same token: %d", got)
	}
	if token.Admits(get("/console/")) {
		t.Error("nobody is admitted")
	}
}

// A form that another site sends is refused, whatever comes with it; and a token nobody has shows nothing.
func TestForgery(t *testing.T) {
	h, _ := handler(t, &told{})
	for _, header := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://elsewhere.example"}} {
		for _, path := range []string{"/console/login", "/console/logout", "/console/noise"} {
			r := known(post(path, url.Values{"token": {secret}, "statement": {"SELECT 1"}}))
			r.Header.Set(header[0], header[1])
			if w := ask(h, r); w.Code != http.StatusForbidden {
				t.Errorf("%s with %v: %d", path, header, w.Code)
			}
		}
	}
	none := Handler(Options{Source: &told{}, Log: slog.New(slog.DiscardHandler)})
	for _, path := range pages {
		if w := ask(none, known(get(path))); w.Code != http.StatusForbidden {
			t.Errorf("%s, where there is no token: %d", path, w.Code)
		}
	}
	if w := ask(none, post("/console/login", url.Values{"token": {""}})); w.Code != http.StatusUnauthorized {
		t.Errorf("signing in where there is no token: %d", w.Code)
	}
}

// One statement is priced at a time; one that is too long, or empty, is not read.
func TestStatements(t *testing.T) {
	s := &told{block: make(chan struct{}), began: make(chan struct{})}
	h, _ := handler(t, s)
	form := url.Values{"statement": {"SELECT count(*) FROM t"}}
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- ask(h, known(post("/console/noise", form))) }()
	<-s.began
	if w := ask(h, known(post("/console/noise", form))); w.Code != http.StatusTooManyRequests {
		t.Errorf("a second at a time: %d", w.Code)
	}
	close(s.block)
	w := <-first
	unlabelled(t, "/console/noise", w.Body.String())
	if page := w.Body.String(); w.Code != 200 || strings.Count(page, "<circle") != 2 ||
		!strings.Contains(page, "±80") || !strings.Contains(page, "from 40 at ε 1 to 20 at ε 2") {
		t.Errorf("%d: %s", w.Code, page)
	}
	for status, text := range map[int]string{http.StatusBadRequest: " ",
		http.StatusRequestEntityTooLarge: strings.Repeat("x", 17<<10)} {
		if w := ask(h, known(post("/console/noise", url.Values{"statement": {text}}))); w.Code != status {
			t.Errorf("%d bytes: %d", len(text), w.Code)
		}
	}
}

// What goes wrong is said as far as it says so itself: what a database said of it stays away.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		err        error
		want, hide string
	}{
		{&Problem{Message: "PV001: no", Hint: "write count"}, "write count", "zanzibar"},
		{errors.New("column zanzibar of 42 rows"), "cannot be shown now", "zanzibar"},
		{context.DeadlineExceeded, "took too long", "deadline"},
	} {
		h, _ := handler(t, &told{err: c.err})
		for _, r := range []*http.Request{get("/console/budgets"), get("/console/twins"), get("/console/policies"),
			post("/console/noise", url.Values{"statement": {"SELECT 1"}})} {
			w := ask(h, known(r))
			if page := w.Body.String(); w.Code < 400 || !strings.Contains(page, c.want) ||
				strings.Contains(page, c.hide) {
				t.Errorf("%s, %v: %d: %s", r.URL, c.err, w.Code, page)
			}
		}
	}
}
