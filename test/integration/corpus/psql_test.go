//go:build fuguhooks

package corpus

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const mark = "=== unit "

// psqlScripts are what psql is to run of the units that are equal so far, by whether PostgreSQL is asked as the guest.
func psqlScripts(units []unit, states map[string]string) (run []unit, scripts map[bool]*strings.Builder) {
	scripts = map[bool]*strings.Builder{false: {}, true: {}}
	for _, u := range units {
		if !u.psql() && (states[u.name] != "equal" || len(u.params) > 0 || u.groups) {
			continue
		}
		script := scripts[u.guest]
		run = append(run, u)
		fmt.Fprintf(script, "\\echo %s%s\n\\warn %s%s\n", mark, u.name, mark, u.name)
		for _, s := range u.steps {
			script.WriteString(s)
			if !strings.Contains(s, `\`) {
				script.WriteString(";")
			}
			script.WriteString("\n")
		}
		if len(u.steps) > 1 {
			script.WriteString("ROLLBACK;\nDISCARD ALL;\n")
		}
	}
	return run, scripts
}

// runPsql compares what psql shows of the units that are equal so far, and decides about those for psql alone.
func runPsql(t *testing.T, f *fixture, units []unit, states map[string]string) {
	t.Helper()
	run, scripts := psqlScripts(units, states)
	if len(run) == 0 {
		return
	}
	want, got := map[string][][]*string{}, map[string][][]*string{}
	for guest, text := range scripts {
		itself := f.postgres()
		if guest {
			itself = f.guest()
		}
		if err := f.psql(t.Context(), itself, text.String(), want); err != nil {
			t.Errorf("psql on PostgreSQL itself: %v", err)
		}
		if err := f.psql(t.Context(), f.fugu(), text.String(), got); err != nil {
			t.Errorf("psql: %v", err)
		}
	}
	for _, u := range run {
		w, g := want[u.name], got[u.name]
		switch e := failure(g); {
		case failure(w) != "":
			t.Errorf("%s (psql):\n%s\nPostgreSQL itself: %s", u.name, u.text(), failure(w))
			states[u.name] = "failed"
		case e != "" && u.psql() && !strings.Contains(e, "XX000"):
			states[u.name] = "refused " + e[:5]
			t.Logf("%s refused %s", u.name, e)
		case e != "":
			t.Errorf("%s (psql):\n%s\n%s", u.name, u.text(), e)
			states[u.name] = "failed"
		case u.masked && len(g) == len(w):
			states[u.name] = "equal"
		default:
			wants := outcome{results: []result{{rows: w}}}
			gots := outcome{results: []result{{rows: g}}}
			if d := difference(wants, gots, unit{steps: u.steps, ties: u.ties || !u.psql() &&
				!ordered(u.steps[len(u.steps)-1])}); d != "" {
				t.Errorf("%s (psql):\n%s\ndifferent: %s", u.name, u.text(), d)
				states[u.name] = "failed"
			} else {
				states[u.name] = "equal"
			}
		}
	}
}

// failure is the code and message of the first error that psql shows.
func failure(rows [][]*string) string {
	for _, r := range rows {
		if _, e, ok := strings.Cut(*r[0], "ERROR:  "); ok {
			return e
		}
	}
	return ""
}

// introduces reports whether a line is what a session is told once about a table, which PostgreSQL does not say.
func introduces(line string) bool {
	return strings.HasPrefix(line, "NOTICE:") && strings.Contains(line, " is answered with noise: ")
}

// psql runs a script and adds to out the lines that it writes for each unit.
func (f *fixture) psql(ctx context.Context, dsn, script string, out map[string][][]*string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.cluster.Tool("psql"), "-X", "-A", "-P", "pager=off", "-v", "VERBOSITY=verbose")
	var err error
	if cmd.Env, err = environment(dsn); err != nil {
		return err
	}
	cmd.Stdin = strings.NewReader(script)
	var streams [2]bytes.Buffer // each is in order, the two together are not
	cmd.Stdout, cmd.Stderr = &streams[0], &streams[1]
	err = cmd.Run()
	for _, s := range streams {
		name, told := "", false
		for _, line := range strings.Split(s.String(), "\n") {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				name = rest
			} else if told = introduces(line) || told && strings.HasPrefix(line, "HINT:"); name != "" && !told {
				out[name] = append(out[name], []*string{&line})
			}
		}
	}
	return err
}
