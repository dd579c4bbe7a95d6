package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unit is one entry of a corpus file: statements for one session, in order; mostly one.
//
//	-- from: the tool, what it does: where the shape was read; "recorded" is from the log of a server;
//	   "memory of" a tool: nowhere, and "hand-written": of no tool
//	-- $1: the text of a parameter
//	-- ties
//	-- rough
//	-- masked
//	-- groups
//	-- guest
//	SELECT ...;
type unit struct {
	name  string // file and number
	from  string
	steps []string
	// params are for every step; with them, a unit is for the extended protocol alone.
	params []string
	ties   bool // ORDER BY leaves rows in any order
	rough  bool // numbers with a fraction are compared as reals
	masked bool // PostgreSQL's values would tell about protected rows: the shape alone is compared
	guest  bool // a catalog shows what one may see: PostgreSQL is asked as Fugu's guest
	groups bool // WHERE leaves groups empty, which Fugu shows: PostgreSQL's rows are among Fugu's
}

// psql reports whether the unit is for psql: it has a command of psql's own.
func (u unit) psql() bool { return strings.Contains(u.text(), `\`) }

// tool is the tool, without its version, whose statement was read or recorded; empty where none was.
func (u unit) tool() string {
	named, _, ok := strings.Cut(u.from, ": ")
	if !ok || strings.HasPrefix(u.from, "memory of") || strings.HasPrefix(u.from, "hand-written") {
		return ""
	}
	tool, _, _ := strings.Cut(named, ",")
	if i := strings.LastIndex(tool, " "); i >= 0 && strings.ContainsAny(tool[i+1:i+2], "0123456789") {
		tool = tool[:i]
	}
	return tool
}

func (u unit) text() string { return strings.Join(u.steps, ";\n") }

// key is what a unit has in a golden file for a name: its text on one line, and its parameters. What two tools send
// alike has one state.
func (u unit) key() string {
	key := strings.Join(strings.Fields(u.text()), " ")
	for i, p := range u.params {
		key += fmt.Sprintf("; $%d: %s", i+1, p)
	}
	return key
}

func goldenFile(dir, name string) string { return filepath.Join("testdata", dir, name+".golden") }

// goldenStates reads a golden file: the state of each unit, by its key. A state's lines begin with a tab.
func goldenStates(t testing.TB, dir, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(goldenFile(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	states, key := map[string]string{}, ""
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		state, ok := strings.CutPrefix(line, "\t")
		switch {
		case !ok:
			key = line
		case states[key] == "":
			states[key] = state
		default:
			states[key] += "\n\t" + state
		}
	}
	return states
}

// corpus reads the files of a directory of testdata, by their names without extension.
func corpus(t testing.TB, dir string) (names []string, units map[string][]unit) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in %s: %v", dir, err)
	}
	units = map[string][]unit{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		if units[name], err = read(name, string(text)); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names, units
}

func read(name, text string) ([]unit, error) {
	var out []unit
	var body []string
	flush := func() {
		if len(out) > 0 {
			out[len(out)-1].steps = steps(strings.Join(body, "\n"))
		}
		body = nil
	}
	for i, line := range strings.Split(text, "\n") {
		_, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(line, "-- from:"):
			flush()
			out = append(out, unit{name: fmt.Sprintf("%s/%d", name, len(out)+1), from: value})
		case len(out) == 0 && line != "":
			return nil, fmt.Errorf("%s:%d: stands before the first -- from:", name, i+1)
		case strings.HasPrefix(line, "-- $"):
			out[len(out)-1].params = append(out[len(out)-1].params, value)
		case line == "-- ties":
			out[len(out)-1].ties = true
		case line == "-- rough":
			out[len(out)-1].rough = true
		case line == "-- masked":
			out[len(out)-1].masked = true
		case line == "-- guest":
			out[len(out)-1].guest = true
		case line == "-- groups":
			out[len(out)-1].groups = true
		default:
			body = append(body, line)
		}
	}
	flush()
	for _, u := range out {
		if len(u.steps) == 0 || u.from == "" {
			return nil, fmt.Errorf("%s: no statement, or nothing says where it is from", u.name)
		}
	}
	return out, nil
}

// steps splits at semicolons that end a line, and after a line with a command of psql's.
func steps(text string) []string {
	var out []string
	var part []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		part = append(part, line)
		trimmed := strings.TrimRight(line, " ")
		if strings.HasSuffix(trimmed, ";") || strings.Contains(line, `\`) {
			out = append(out, strings.TrimSuffix(strings.TrimSpace(strings.Join(part, "\n")), ";"))
			part = nil
		}
	}
	if rest := strings.TrimSpace(strings.Join(part, "\n")); rest != "" {
		out = append(out, rest)
	}
	return out
}
