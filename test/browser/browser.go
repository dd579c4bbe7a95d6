//go:build !byday

// Package browser shows pages to tests in a Chromium without a screen. scripts/setup.sh browser installs it on Debian;
// where it is not, tests that ask for it are skipped. It opens nothing but what a test gives it, and is gone, with its
// profile, when the test ends.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Required is the environment variable that has tests fail, and not be skipped, where there is no browser.
const Required = "FUGU_BROWSER"

// patience is how long all that a test does with a page may take on a machine that has much else to do.
const patience = 10 * time.Minute

// Screen is what a page is looked at on.
type Screen struct {
	Width, Height int64 // in CSS pixels
	Dark          bool  // whether the reader prefers dark colours
}

// String is a name for tests and files, such as 360-dark.
func (s Screen) String() string {
	if s.Dark {
		return fmt.Sprintf("%d-dark", s.Width)
	}
	return fmt.Sprintf("%d-light", s.Width)
}

// Page is a tab of a browser.
type Page struct {
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// Open starts a browser with one empty tab. It skips the test where no Chromium is installed.
func Open(t testing.TB, screen Screen) *Page {
	t.Helper()
	program := find()
	if program == "" {
		if os.Getenv(Required) != "" {
			t.Fatal("no Chromium is installed: scripts/setup.sh browser does so")
		}
		t.Skip("no Chromium is installed: scripts/setup.sh browser does so")
	}

	// Tests may run as root and in containers, where Chromium's own sandbox cannot; it is shown our own pages alone.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(int(screen.Width), int(screen.Height)),
		chromedp.WSURLReadTimeout(patience)) // until it says where it listens, which else is 20 s
	limited, cancelLimit := context.WithTimeout(t.Context(), patience)
	allocator, cancelAllocator := chromedp.NewExecAllocator(limited, options...)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		cancel() // closes the browser, and waits for it
		cancelAllocator()
		cancelLimit()
	})

	p := &Page{ctx: ctx}
	chromedp.ListenTarget(ctx, p.listen)
	colours := &emulation.MediaFeature{Name: "prefers-color-scheme", Value: "light"}
	if screen.Dark {
		colours.Value = "dark"
	}
	p.Do(t, log.Enable(), emulation.SetDeviceMetricsOverride(screen.Width, screen.Height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{colours}))
	return p
}

func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	return ""
}

// listen keeps what the page's console has of errors, and what could not be loaded.
func (p *Page) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			for _, a := range e.Args {
				p.problems = append(p.problems, fmt.Sprintf("%s: %s%s", e.Type, a.Value, a.Description))
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// Problems are the errors and warnings of the console, of all pages so far.
func (p *Page) Problems() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.problems, "\n")
}

// Do does something with the page by chromedp's actions; the test fails where one does.
func (p *Page) Do(t testing.TB, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		t.Fatalf("%v; the console has %q", err, p.Problems())
	}
}

// Go goes to an address, and waits until the page is loaded.
func (p *Page) Go(t testing.TB, address string) {
	t.Helper()
	p.Do(t, chromedp.Navigate(address))
}

// Eval is the value of an expression of JavaScript; a promise is waited for.
func Eval[T any](t testing.TB, p *Page, expression string) (value T) {
	t.Helper()
	await := func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }
	p.Do(t, chromedp.Evaluate(expression, &value, await))
	return value
}

// Shoot writes what the screen shows as a PNG file, and makes its directory.
func (p *Page) Shoot(t testing.TB, file string) {
	t.Helper()
	var image []byte
	p.Do(t, chromedp.CaptureScreenshot(&image))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, image, 0o644); err != nil {
		t.Fatal(err)
	}
}
