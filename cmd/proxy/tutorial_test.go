package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"fugu/test/golden"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

const tutorial = "../../docs/tutorial.md"

// The tutorial's commands do what the page shows: they are typed as they stand there, one after the other, and print
// what stands below them. Behind the build of the twin numbers are drawn, so that only the words are compared. -update
// writes what they print.
func TestTutorial(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	forget(t, c, "hospital", "fugu_hospital")
	page, err := os.ReadFile(tutorial)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, c)
	s.environment["DATABASE_URL"] = c.DSN("postgres", "postgres")
	s.typed = append(s.typed, "-analyst alice", "-analyst alice -listen 127.0.0.1:0 -roles fugu_hospital")

	drawn := false
	told := consoles.ReplaceAllStringFunc(string(page), func(block string) string {
		var b strings.Builder
		for _, step := range steps(strings.TrimSuffix(strings.TrimPrefix(block, consoleBegin), consoleEnd)) {
			b.WriteString(step.typed)
			got := s.run(t, step.command())
			drawn = drawn || strings.Contains(step.typed, "twin build")
			switch {
			case golden.Updating():
			case drawn && wordsOf(got) == wordsOf(step.printed):
				got = step.printed
			case got != step.printed:
				t.Errorf("%s prints\n%sthe page has\n%s", step.typed, got, step.printed)
			}
			b.WriteString(got)
		}
		return consoleBegin + b.String() + consoleEnd
	})
	if golden.Updating() {
		if err := os.WriteFile(tutorial, []byte(told), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if s.address == "" || s.password == "" {
		t.Fatalf("the page serves at %q, with a password: %v", s.address, s.password != "")
	}
	nearTruth(t, c.DSN("postgres", "hospital"), s.alice("hospital"))
}

// nearTruth compares the counts that alice is told, and their error bars, with the true ones. What they are off by is
// the noise on the secret, discrete Laplace noise, and that of sampling: ten standard deviations are a false alarm of
// e^(-10·√2), 7e-7.
func nearTruth(t *testing.T, owner, alice string) {
	t.Helper()
	const ask = "SELECT clinic, count(*)::float8 FROM visit GROUP BY clinic ORDER BY clinic"
	truth, told := counts(t, owner, ask), counts(t, alice, ask)
	sd := counts(t, alice, strings.Replace(ask, "count(*)", "fugu_noise_sd(count(*))", 1))
	if len(truth) != 3 {
		t.Fatalf("%v is the truth", truth)
	}
	for clinic, n := range truth {
		off, deviation := math.Abs(told[clinic]-n), sd[clinic]
		if !(deviation > 0 && off <= 10*deviation) {
			t.Errorf("%s: %.0f for %.0f, with an error of %.1f", clinic, told[clinic], n, deviation)
		}
	}
}

func counts(t *testing.T, dsn, sql string) map[string]float64 {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	out, key, value := map[string]float64{}, "", 0.
	if _, err := pgx.ForEachRow(rows, []any{&key, &value}, func() error { out[key] = value; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

const consoleBegin, consoleEnd = "```console\n", "```"

var consoles = regexp.MustCompile("(?s)```console\n.*?```")

// step is a command as it stands in a page, with its prompts, and what is printed below it.
type step struct{ typed, printed string }

// steps takes a console apart: a line that begins with "$ " is typed, those behind it with "> " belong to it.
func steps(console string) (out []step) {
	for line := range strings.Lines(console) {
		switch {
		case strings.HasPrefix(line, "$ "):
			out = append(out, step{typed: line})
		case strings.HasPrefix(line, "> "):
			out[len(out)-1].typed += line
		default:
			out[len(out)-1].printed += line
		}
	}
	return out
}

// command is what was typed, without prompts.
func (s step) command() string {
	return strings.ReplaceAll(strings.TrimPrefix(s.typed, "$ "), "\n> ", "\n")
}

var (
	numbers = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?`)
	spaces  = regexp.MustCompile(`[\s-]+`)
)

// wordsOf is a text without its numbers, and without the room that they take.
func wordsOf(text string) string {
	return spaces.ReplaceAllString(numbers.ReplaceAllString(text, "0"), " ")
}

// session is a shell at which a reader of a page sits, with fugu on its PATH.
type session struct {
	dir               string
	typed             []string          // what is typed instead of what stands in the page, in pairs
	environment       map[string]string // what was exported
	address, password string            // of the proxy and of alice, once they are known
}

// newSession has the test binary be fugu, in a directory of its own.
func newSession(t *testing.T, c *pgcluster.Cluster) *session {
	t.Helper()
	s := &session{dir: t.TempDir(), environment: map[string]string{}}
	fugu := filepath.Join(s.dir, "bin", "fugu")
	if err := os.Mkdir(filepath.Dir(fugu), 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec %s \"$@\"\n", asFugu, self)
	if err := os.WriteFile(fugu, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s.environment["PATH"] = filepath.Dir(fugu) + ":" + filepath.Dir(c.Tool("psql")) + ":" + os.Getenv("PATH")
	return s
}

var (
	// How far a build is shows while it goes on, and the owner's address where it has no password.
	fleeting     = regexp.MustCompile(`(?m)^fugu twin: .*%.*\n`)
	ownersURL    = regexp.MustCompile(`'postgres://postgres@\S*'`)
	exported     = regexp.MustCompile(`(?m)^exported (\w+)=(.*)\n`)
	toldPassword = regexp.MustCompile(`password of alice: (\S+)`)
	serving      = regexp.MustCompile(`^(?:\S*/)?fugu serve -c (\S+) &\s*$`)
)

// run types a command, which succeeds, and returns what is printed as a page has it: without passwords, and with the
// address of the example.
func (s *session) run(t *testing.T, command string) string {
	t.Helper()
	if m := serving.FindStringSubmatch(command); m != nil {
		proxy, err := startChild(t, filepath.Join(s.dir, m[1]))
		if err != nil {
			t.Fatal(err)
		}
		s.address = proxy.address
		return "fugu: ready on 127.0.0.1:6432\n"
	}
	replace := strings.NewReplacer(append(s.typed, "127.0.0.1:6432", s.address, "PASSWORD", s.password)...)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", replace.Replace(command)+
		"\nstatus=$?; for v in DATABASE_URL ALICE; do echo \"exported $v=${!v-}\"; done; exit $status")
	cmd.Dir, cmd.Env = s.dir, os.Environ()
	for name, value := range s.environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}

	text := string(out)
	for _, m := range exported.FindAllStringSubmatch(text, -1) {
		s.environment[m[1]] = m[2]
	}
	text = exported.ReplaceAllString(text, "")
	if m := toldPassword.FindStringSubmatch(text); m != nil {
		s.password = m[1]
	}
	back := []string{s.dir + "/", "", os.Args[0], "fugu"}
	if s.password != "" {
		back = append(back, s.password, "PASSWORD")
	}
	if s.address != "" {
		back = append(back, s.address, "127.0.0.1:6432")
	}
	text = ownersURL.ReplaceAllString(fleeting.ReplaceAllString(text, ""), "DATABASE-URL")
	if text = strings.TrimRight(strings.NewReplacer(back...).Replace(text), "\n"); text != "" {
		text += "\n"
	}
	return foldLines(text)
}

// foldLines breaks lines that no screen has room for, as a terminal does, at a blank.
func foldLines(text string) string {
	const width = 118
	var b strings.Builder
	for line := range strings.Lines(text) {
		for utf8.RuneCountInString(line) > width {
			at := strings.LastIndexByte(string([]rune(line)[:width]), ' ')
			b.WriteString(line[:at] + "\n")
			line = line[at+1:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// alice is the address at which alice comes in.
func (s *session) alice(database string) string {
	return "postgres://alice:" + s.password + "@" + s.address + "/" + database
}
