//go:build !byday && !race

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"fugu/test/adult"
	"fugu/test/browser"
	"fugu/test/pgcluster"
)

// consoleScreens are those the console is looked at on. The desk's are those of the pictures in docs/console.
var consoleScreens = []browser.Screen{{Width: 1100, Height: 860}, {Width: 1100, Height: 860, Dark: true},
	{Width: 360, Height: 740}}

// What is done with a page to see whether who has no mouse reaches all of it, and sees where they are.
const (
	usable = `(() => { document.activeElement.blur(); window.scrollTo(0, 0);
		window.usable = [...document.querySelectorAll('a[href], button, input, textarea, summary, [tabindex="0"]')]
		  .filter(e => e.checkVisibility()); return window.usable.length; })()`
	reached = `(() => { const e = document.activeElement, s = getComputedStyle(e);
		e.reached = s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2; return true; })()`
	cut = `[...document.querySelectorAll('tbody th, tbody td')].filter(e => innerWidth < 640 && e.checkVisibility() &&
		e.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML.slice(0, 90))`
	missed = `window.usable.filter(e => !e.reached).map(e => e.outerHTML.slice(0, 90))`
	drawn  = `document.querySelectorAll('svg.chart .line[d], svg.chart .mark').length`
)

// A keeper signs in and goes through all pages, in light and dark, at a desk and on a telephone: charts have lines and
// marks, nothing is wider than the screen or too faint, the browser has nothing to complain of, and Tab reaches
// everything. With SHOTS it leaves pictures there.
func TestConsoleInABrowser(t *testing.T) {
	if !night {
		t.Skip("make nightly looks at the console in a browser")
	}
	c, _ := administered(t)
	if browserRequired {
		t.Setenv(browserWanted, "1")
	}
	c.ask(t)
	conn := c.connect(t)
	for _, sql := range []string{"SELECT avg(age) FROM adult", "SELECT education, count(*) FROM adult GROUP BY 1"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), "SELECT max(age) FROM adult"); sqlstateOf(err) != "PV001" {
		t.Fatal(err)
	}
	eventually(t, "the refusal is recorded", func() bool {
		_, page := c.page(t, "/console/record")
		return strings.Contains(page, "PV001")
	})
	site := "http://" + operators.FindStringSubmatch(c.log.String())[1]
	if status, _ := c.pageBy(t, http.DefaultClient, "http", "/console/style.css", ""); status != http.StatusOK {
		t.Fatalf("the style: %d", status)
	}

	for _, screen := range consoleScreens {
		t.Run(screen.String(), func(t *testing.T) {
			p := browser.Open(t, screen)
			p.Go(t, site+"/")
			lookAt(t, p, screen, "login", 0)
			signInTo(t, p)
			for _, path := range consolePages {
				p.Go(t, site+path)
				name := strings.Trim(strings.TrimPrefix(path, "/console"), "/")
				marks := map[string]int{"budgets": 4, "policies": 4}[name]
				if name == "" {
					name = "overview"
				}
				lookAt(t, p, screen, name, marks)
			}
			sql := "SELECT sex, count(*), avg(age) FROM adult GROUP BY sex"
			p.Do(t, chromedp.SendKeys("#statement", sql, chromedp.ByQuery),
				chromedp.Submit("#statement", chromedp.ByQuery),
				chromedp.WaitReady("svg.chart, [role=alert]", chromedp.ByQuery))
			const alert = `document.querySelector('[role=alert]')?.innerText ?? ""`
			if said := browser.Eval[string](t, p, alert); said != "" {
				t.Errorf("the statement was not priced: %s", said)
			}
			lookAt(t, p, screen, "noise-priced", 18)
			if problems := p.Problems(); problems != "" {
				t.Errorf("the browser's console has %s", problems)
			}
		})
	}
}

// signInTo gives the page that asks for it the token.
func signInTo(t *testing.T, p *browser.Page) {
	t.Helper()
	p.Do(t, chromedp.SendKeys("#token", operatorToken, chromedp.ByQuery),
		chromedp.Submit("#token", chromedp.ByQuery), chromedp.WaitVisible("nav", chromedp.ByQuery))
}

// The same of a twin: its page, and a statement that it answers free.
func TestConsoleOfTwinsInABrowser(t *testing.T) {
	if !night {
		t.Skip("make nightly looks at the console in a browser")
	}
	c := pgcluster.Shared(t)
	data, err := adult.Load(t.Context(), c, "seen", adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), "seen", "CREATE ROLE seen_keeper LOGIN; GRANT SELECT ON adult TO seen_keeper; "+
		"GRANT CREATE ON DATABASE seen TO seen_keeper"); err != nil {
		t.Fatal(err)
	}
	path, write := keeping(t, c, "seen", "fugu_guest", "fugu_reader", "seen_keeper")
	write(fmt.Sprintf(twinPolicy, data.Rows))
	expect(t, exitOK, "adult", "twin", "build", "-c", path)
	token := filepath.Join(filepath.Dir(path), "admin.token")
	writeFile(t, token, operatorToken)
	proxy, err := startChild(t, path, "FUGU_ADMIN=127.0.0.1:0", "FUGU_ADMIN_TOKEN="+token)
	if err != nil {
		t.Fatal(err)
	}
	proxy.page(t, "/healthz")
	site := "http://" + operators.FindStringSubmatch(proxy.log.String())[1]
	if browserRequired {
		t.Setenv(browserWanted, "1")
	}

	for _, screen := range consoleScreens {
		t.Run(screen.String(), func(t *testing.T) {
			p := browser.Open(t, screen)
			p.Go(t, site+"/")
			signInTo(t, p)
			p.Go(t, site+"/console/twins")
			lookAt(t, p, screen, "twins-built", 10)
			p.Go(t, site+"/console/noise")
			p.Do(t, chromedp.SendKeys("#statement", "SELECT count(*) FROM adult", chromedp.ByQuery),
				chromedp.Submit("#statement", chromedp.ByQuery), chromedp.WaitReady("svg.chart", chromedp.ByQuery))
			lookAt(t, p, screen, "noise-free", 10)
			if problems := p.Problems(); problems != "" {
				t.Errorf("the browser's console has %s", problems)
			}
		})
	}
}

// lookAt examines the page that is shown.
func lookAt(t *testing.T, p *browser.Page, screen browser.Screen, name string, marks int) {
	t.Helper()
	if n := p.Overflow(t); n != 0 {
		t.Errorf("%s is wider than the screen by %d pixels", name, n)
	}
	if faint := p.Faint(t); len(faint) > 0 {
		t.Errorf("%s has faint text: %q", name, faint)
	}
	if cells := browser.Eval[[]string](t, p, cut); len(cells) > 0 {
		t.Errorf("%s has cells outside of the screen: %q", name, cells)
	}
	if n := browser.Eval[int](t, p, drawn); n < marks {
		t.Errorf("%s has %d lines and marks, want %d", name, n, marks)
	}
	if shots := os.Getenv("SHOTS"); shots != "" {
		p.Shoot(t, filepath.Join(shots, name+"-"+screen.String()+".png"))
	}

	for range browser.Eval[int](t, p, usable) + 1 {
		p.Do(t, chromedp.KeyEvent("\t"))
		browser.Eval[bool](t, p, reached)
	}
	if left := browser.Eval[[]string](t, p, missed); len(left) > 0 {
		t.Errorf("%s: not reached with Tab, or without an outline: %q", name, left)
	}
}
