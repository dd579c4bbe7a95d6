package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"fugu/test/compat/sides"
)

// module is a suite that is the tests of a Go module, of the version that Fugu itself uses.
type module struct {
	path string
	// dir: for files of its own, with source, that of the module
	environment func(at way, door sides.Side, dir string) []string
	// files that the module gets besides its own, by name
	add map[string]string
}

// testArguments are those of the test program for a part's tests, or only for some of them.
func testArguments(p part, only []string) []string {
	args := []string{"-test.v=test2json", "-test.paniconexit0", "-test.timeout=20m"}
	if p.skip != nil {
		args = append(args, "-test.skip=^("+strings.Join(p.skip, "|")+")$")
	}
	if only == nil {
		only = p.run
	}
	if only != nil {
		args = append(args, "-test.run=^("+strings.Join(only, "|")+")$")
	}
	return append(args, p.args...)
}

// fetch brings the module, of the version that this one requires, and returns what runs its tests.
func (m module) fetch(ctx context.Context, dir string) (runner, error) {
	version, err := goOutput(ctx, "", "list", "-m", "-f", "{{.Version}}", m.path)
	if err != nil {
		return nil, err
	}
	out, err := goOutput(ctx, "", "mod", "download", "-json", m.path+"@"+strings.TrimSpace(string(version)))
	if err != nil {
		return nil, err
	}
	var where struct{ Dir string }
	if err := json.Unmarshal(out, &where); err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}

	var caches []string // wherever HOME is in the tests
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		value, err := goOutput(ctx, "", "env", name)
		if err != nil {
			return nil, err
		}
		caches = append(caches, name+"="+strings.TrimSpace(string(value)))
	}

	// A copy: the module cache is read-only, and tests write.
	source := filepath.Join(dir, "source")
	if err := os.CopyFS(source, os.DirFS(where.Dir)); err != nil {
		return nil, err
	}
	for name, text := range m.add {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}

	// go tool would build it with other flags, and for that a part of the standard library once more.
	converter := filepath.Join(dir, "test2json")
	if _, err := goOutput(ctx, "", "build", "-o", converter, "cmd/test2json"); err != nil {
		return nil, err
	}

	programs := testPrograms{dir: dir, source: source, of: map[string]string{}}
	return func(ctx context.Context, at way, p part, only []string) (results, error) {
		// Not the caller's variables for libpq: the tests are to find the same on every machine. How the caller
		// compiles stays, so that the standard library is the one that make test has compiled.
		environment := append(without(os.Environ(), "PG", "GOFLAGS=", "GOWORK="),
			append(m.environment(at, at.doors[p.door], dir),
				append(caches, "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off")...)...)
		program, out, err := programs.build(ctx, p.pkg, environment)
		if err != nil {
			return results{whole: {outcome: "fail", output: string(out)}}, ctx.Err()
		}
		test := sides.Command(ctx, converter, append([]string{program}, testArguments(p, only)...)...)
		test.Dir, test.Env = filepath.Join(source, p.pkg), environment
		return m.test(ctx, test, p)
	}, nil
}

// testPrograms are the test programs of a module's packages. Parts run many times, and go test would link the program
// of their tests each time anew.
type testPrograms struct {
	dir, source string            // where they go, and where the module is
	of          map[string]string // by package
}

// build builds that of a package, if it has not been built, and returns what the compiler says.
func (b testPrograms) build(ctx context.Context, pkg string, environment []string) (program string, out []byte,
	err error) {
	if program, ok := b.of[pkg]; ok {
		return program, nil, nil
	}
	program = filepath.Join(b.dir, fmt.Sprintf("%d.test", len(b.of)))
	build := sides.Command(ctx, "go", "test", "-c", "-vet=off", "-o", program, pkg)
	build.Dir, build.Env = b.source, environment
	if out, err := build.CombinedOutput(); err != nil {
		return "", out, err
	}
	b.of[pkg] = program
	return program, nil, nil
}

// test runs a part of a package's tests by a command that says what becomes of each, as go test -json does.
func (m module) test(ctx context.Context, cmd *exec.Cmd, p part) (results, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}

	r, parseErr := readEvents(out)
	if parseErr != nil {
		return nil, parseErr
	}
	if len(r) == 0 {
		return nil, fmt.Errorf("%s %s: %w: %w\n%s%s", m.path, p.name, errNoTest, err, out, stderr.Bytes())
	}
	return r, nil
}

func goOutput(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return out, nil
}

// without leaves out the variables whose names begin with a prefix.
func without(environment []string, prefixes ...string) []string {
	var out []string
	for _, v := range environment {
		keep := true
		for _, p := range prefixes {
			keep = keep && !strings.HasPrefix(v, p)
		}
		if keep {
			out = append(out, v)
		}
	}
	return out
}

// passing are parts of test names that differ from run to run: the directories that t.TempDir makes.
var passing = regexp.MustCompile(`\d{6,}/\d+/`)

// errNoTest says that nothing ran.
var errNoTest = errors.New("ran no test")

// whole is the name for what is of no test: a package that does not build, or ends early.
const whole = "(package)"

// readEvents reads the output of go test -json. A test that runs several times has failed if it has failed once.
func readEvents(out []byte) (results, error) {
	r := results{}
	var last []string // that was said by any test
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("go test -json: %w in %.200q", err, lines.Text())
		}
		name := passing.ReplaceAllString(e.Test, "N/")
		if name == "" {
			name = whole
		}
		t := r[name]
		switch e.Action {
		case "output":
			t.output += e.Output
			if last = append(last, e.Output); len(last) > 40 {
				last = last[1:]
			}
		case "pass", "fail", "skip":
			if t.outcome != "fail" {
				t.outcome = e.Action
			}
		default:
			continue
		}
		r[name] = t
	}
	// A test without an end was cut off with its package, whose output may say why.
	cut := false
	for name, t := range r {
		if t.outcome == "" {
			t.outcome, t.cut, cut = "fail", true, true
			r[name] = t
		}
	}
	// A panic that ends the program leaves no word of the package. Otherwise that word says no more than its tests,
	// unless it has none that failed.
	if t, ok := r[whole]; cut {
		r[whole] = result{outcome: "fail", output: strings.Join(last, "")}
	} else if ok && (t.outcome != "fail" || anyFailed(r)) {
		delete(r, whole)
	}
	return r, lines.Err()
}

func anyFailed(r results) bool {
	for name, t := range r {
		if name != whole && t.outcome == "fail" {
			return true
		}
	}
	return false
}
