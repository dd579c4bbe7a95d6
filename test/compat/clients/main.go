// Command clients runs real clients through Fugu. Each has a session of its own in a directory here: an ordinary one
// that creates, reads, updates and deletes in the ways which that client has, text and binary, and a dashboard over a
// protected table. The ordinary session must print through Fugu, byte for byte, what it prints against PostgreSQL; the
// dashboard must have the rows that PostgreSQL gives, with values as near the truth as Fugu says.
//
//	go run ./test/compat/clients [-twins] [NAME...]     the clients with these names; all without
//
// With -twins the protected table is answered by a twin, and the dashboard must have its values exactly.
//
// The exit status is 1 if one of them is not as it should be, or is not installed: scripts/setup.sh compat does that.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/test/compat/sides"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	twins := flag.Bool("twins", false, "the protected table is answered by a twin")
	flag.Parse()
	names := flag.Args()
	failed, err := runAll(ctx, os.Stdout, *twins, func(c client) bool {
		return len(names) == 0 ||
			slices.Contains(names, c.name)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

// runAll runs the clients that are wanted and reports to out. It returns how many failed.
func runAll(ctx context.Context, out io.Writer, twins bool, wanted func(client) bool) (failed int, err error) {
	dir, err := os.MkdirTemp("", "fugu-compat-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	golang := filepath.Join(dir, "golang")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", golang,
		"fugu/test/compat/clients/golang").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the sessions in Go: %w\n%s", err, out)
	}
	w, err := newWorld(ctx, dir, twins)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	want, err := w.expect(ctx, twins)
	if err != nil {
		return 0, err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "client\tversion\tordinary session\tdashboard")
	var details strings.Builder
	for _, c := range clients(golang) {
		if !wanted(c) {
			continue
		}
		version, err := c.run(ctx, "version", w.direct)
		if err != nil {
			failed++
			fmt.Fprintf(table, "%s\t-\tnot here\t-\n", c.name)
			fmt.Fprintf(&details, "\n%s: %v\n%s", c.name, err, version)
			continue
		}
		crud, err := w.ordinary(ctx, c)
		if err != nil {
			failed++
			crud = "FAILED"
			fmt.Fprintf(&details, "\n%s, ordinary session: %v\n", c.name, err)
		}
		dashboard, err := w.dashboard(ctx, c, want)
		if err != nil {
			failed++
			dashboard = "FAILED"
			fmt.Fprintf(&details, "\n%s, dashboard: %v\n", c.name, err)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", c.name, strings.TrimSpace(strings.Split(version, "\n")[0]), crud,
			dashboard)
	}
	if err := table.Flush(); err != nil {
		return failed, err
	}
	_, err = io.WriteString(out, details.String())
	return failed, err
}

// run runs a client's session. The output is what it writes to either stream.
func (c client) run(ctx context.Context, what string, side sides.Side) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	cmd := sides.Command(ctx, c.command[0], append(slices.Clone(c.command[1:]), what)...)
	cmd.Dir = sessions()
	cmd.Env = append(os.Environ(), side.Environment()...)
	cmd.Env = append(cmd.Env, "LC_ALL=C.UTF-8", "TZ=UTC", "PYTHONDONTWRITEBYTECODE=1", "NODE_PATH="+nodePath())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// nodePath is where scripts/setup.sh compat puts packages of npm's.
func nodePath() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "fugu/compat/node_modules")
}

// ordinary runs the ordinary session on both sides and compares what it prints.
func (w *world) ordinary(ctx context.Context, c client) (string, error) {
	var outputs [2]string
	for i, side := range []sides.Side{w.direct, w.side(c)} {
		if err := w.empty(ctx); err != nil {
			return "", err
		}
		var err error
		if outputs[i], err = c.run(ctx, "crud", side); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", side.Name, err, outputs[i])
		}
	}
	if outputs[0] != outputs[1] {
		return "", fmt.Errorf("the outputs differ\n%s", firstDifference(outputs[0], outputs[1]))
	}
	if n := strings.Count(outputs[0], "\n"); n > 0 {
		return fmt.Sprintf("the same %d lines", n), nil
	}
	return "", errors.New("it says nothing")
}

// firstDifference shows the first line that differs, and some around it.
func firstDifference(direct, through string) string {
	a, b := strings.Split(direct, "\n"), strings.Split(through, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	show := func(lines []string) string {
		return strings.Join(lines[min(i, len(lines)):min(i+5, len(lines))], "\n    ")
	}
	return fmt.Sprintf("  line %d, direct:\n    %s\n  fugu:\n    %s", i+1, show(a), show(b))
}

// dashboard runs the protected session.
func (w *world) dashboard(ctx context.Context, c client, want map[string]expected) (string, error) {
	out, err := c.run(ctx, "dashboard", w.side(c))
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	n, err := checkDashboard(out, want)
	return fmt.Sprintf("%d answers", n), err
}

func (w *world) side(c client) sides.Side {
	if c.trust {
		return w.trusting
	}
	return w.through
}

func (w *world) expect(ctx context.Context, twins bool) (map[string]expected, error) {
	truth, err := pgx.Connect(ctx, w.owner.DSN())
	if err != nil {
		return nil, err
	}
	defer truth.Close(context.WithoutCancel(ctx))
	if twins {
		return expectTwin(ctx, truth)
	}
	fugu, err := pgx.Connect(ctx, w.through.DSN())
	if err != nil {
		return nil, err
	}
	defer fugu.Close(context.WithoutCancel(ctx))
	return expect(ctx, truth, fugu)
}
