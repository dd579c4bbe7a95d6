package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"fugu/test/certs"
)

// consolePages are all pages that can be asked for.
var consolePages = []string{"/console/", "/console/budgets", "/console/record", "/console/certificates",
	"/console/policies", "/console/twins", "/console/noise"}

// send posts a form to the address for operators.
func (c *child) send(t *testing.T, client *http.Client, path string, header http.Header,
	form url.Values) (status int, text string) {
	t.Helper()
	c.page(t, "/healthz") // the address is there
	address := operators.FindStringSubmatch(c.log.String())[1]
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, values := range header {
		r.Header[name] = values
	}
	return fetch(t, client, r)
}

// bearer is a header that has the token.
var bearer = http.Header{"Authorization": {"Bearer " + operatorToken}}

// Who signs in sees the budget that was spent, the answer, the refusal, the certificate, and the law of the secret; and
// a statement that is typed is priced at no charge. Another token ends the session.
func TestConsole(t *testing.T) {
	c, path := administered(t)
	c.ask(t)
	if _, err := c.connect(t).Exec(t.Context(), "SELECT max(age) FROM adult"); sqlstateOf(err) != "PV001" {
		t.Fatal(err)
	}
	browser := c.signIn(t)

	// A refusal is written in the background.
	eventually(t, "the refusal is recorded", func() bool {
		_, page := c.pageBy(t, browser, "http", "/console/record", "")
		return strings.Contains(page, "not answerable on protected data")
	})
	for page, words := range map[string][]string{
		"/console/":             {`class="good">Ready<`, "postgresql", "PV001", "up to 5 ms", "above 81.9 s"},
		"/console/budgets":      {"high_income", "alice", "spent-0-title", `class="mark`, "has spent", "in 1 answer;"},
		"/console/record":       {`class="good">answer<`, "PV001", "alice"},
		"/console/certificates": {"indistinguishable", "Hardest pair", "0.1 against 0.15", "Of the latest answers"},
		"/console/policies": {"income = &#39;&gt;50K&#39;", "Without noise", "With noise",
			`class="line s1 dashed"`},
		"/console/twins": {"No policy asks for a twin."},
	} {
		status, text := c.pageBy(t, browser, "http", page, "")
		for _, w := range words {
			if status != 200 || !strings.Contains(text, w) {
				t.Errorf("%s: %d, without %q:\n%.3000s", page, status, w, text)
			}
		}
	}
	c.checkTyped(t, browser)

	certs.Write(t, path[:strings.LastIndex(path, "/")], "admin.token", []byte(strings.Repeat("e", 32)))
	if !c.reload(t) {
		t.Fatal("no reload")
	}
	if _, page := c.pageBy(t, browser, "http", "/console/budgets", ""); !strings.Contains(page, `name="token"`) {
		t.Errorf("with another token: %s", page)
	}
	if strings.Contains(c.log.String(), operatorToken) {
		t.Error("the token is in the log")
	}
}

// signIn returns a browser with a session, which only the right token gives.
func (c *child) signIn(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	if status, page := c.send(t, browser, "/console/login", nil, url.Values{"token": {"x"}}); status != 401 {
		t.Fatalf("a wrong token: %d: %s", status, page)
	}
	if _, page := c.pageBy(t, browser, "http", "/console/budgets", ""); !strings.Contains(page, `name="token"`) {
		t.Fatalf("without a session: %s", page)
	}
	if status, page := c.send(t, browser, "/console/login", nil, url.Values{"token": {operatorToken}}); status != 200 ||
		!strings.Contains(page, "Health") {
		t.Fatalf("signing in: %d: %s", status, page)
	}
	return browser
}

// checkTyped types statements: a preview charges nothing, and says what is wrong with a statement.
func (c *child) checkTyped(t *testing.T, browser *http.Client) {
	t.Helper()
	_, before := c.page(t, "/metrics")
	status, text := c.send(t, browser, "/console/noise", nil,
		url.Values{"statement": {"SELECT sex, count(*) FROM adult GROUP BY sex"}})
	if status != 200 || strings.Count(text, `class="mark`) < 8 || !strings.Contains(text, "Noise against ε") {
		t.Errorf("a statement: %d: %s", status, text)
	}
	for statement, want := range map[string]string{"SELECT max(age) FROM adult": "PV001",
		"SELECT FROM adult (": "42601", "": "There is no statement"} {
		status, text := c.send(t, browser, "/console/noise", nil, url.Values{"statement": {statement}})
		if status < 400 || !strings.Contains(text, want) {
			t.Errorf("%q: %d: %s", statement, status, text)
		}
	}
	long := url.Values{"statement": {strings.Repeat("x", 20_000)}}
	if status, _ := c.send(t, browser, "/console/noise", nil, long); status != http.StatusRequestEntityTooLarge {
		t.Errorf("20 kB: %d", status)
	}
	releases := regexp.MustCompile(`(?m)^fugu_budget_releases.*$`)
	if _, after := c.page(t, "/metrics"); releases.FindString(after) != releases.FindString(before) {
		t.Errorf("%s was %s before", releases.FindString(after), releases.FindString(before))
	}
}
