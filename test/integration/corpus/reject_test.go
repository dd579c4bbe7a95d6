//go:build fuguhooks

package corpus

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Every statement of the corpus is refused, with the code, position and hint of the golden file, and no statistics
// statement runs for it; where the golden file says "reader: asked", the reader asked PostgreSQL for types or looked
// something up in a catalog, and elsewhere sent no byte.
func TestReject(t *testing.T) {
	f := start(t)
	fugu := open(t, f.fugu())

	// An engine asks the catalog once what the tables are. That is no part of any statement, whichever file is first.
	if out, err := fugu.run(t.Context(), unit{steps: []string{"SELECT * FROM orders"}}, simple); err != nil ||
		out.err == nil {
		t.Fatal(err, out.err)
	}

	names, units := corpus(t, "reject")
	total := 0
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			states := map[string]string{}
			for _, u := range units[name] {
				state := ""
				for _, m := range u.modes() {
					got, err := f.refusal(t, fugu, u, m)
					if err != nil {
						t.Errorf("%s (%s):\n%s\n%v", u.name, m, u.text(), err)
						got = "failed"
					}
					switch asked := "\n\treader: asked"; {
					case state == "":
						state = got
					// the second time, the answer may be known
					case strings.TrimSuffix(got, asked) != strings.TrimSuffix(state, asked):
						t.Errorf("%s (%s):\n%s\n%s, but otherwise\n%s", u.name, m, u.text(), got, state)
					}
				}
				states[u.name] = state
			}
			golden(t, "reject", name, units[name], states)
		})
		total += len(units[name])
	}
	if total < 150 {
		t.Errorf("the corpus has %d statements", total)
	}
	// The watch sees what an answer takes.
	asked, run := f.reader.count()
	if out, err := fugu.run(t.Context(), unit{steps: []string{"SELECT count(*) FROM orders WHERE quantity > 1"}},
		simple); err != nil || out.err != nil {
		t.Fatal(err, out.err)
	}
	if asked, run = f.reader.since(asked, run); asked == 0 || run == 0 {
		t.Errorf("an answer took %d descriptions and %d runs", asked, run)
	}
}

// refusal describes how a unit's last step is refused.
func (f *fixture) refusal(t *testing.T, fugu *side, u unit, m mode) (string, error) {
	asked, run := f.reader.count()
	out, err := fugu.run(t.Context(), u, m)
	if err != nil {
		return "", fmt.Errorf("the connection is lost: %w", err)
	}
	asked, run = f.reader.since(asked, run)
	e := out.err
	switch {
	case e == nil:
		return "", fmt.Errorf("it is answered")
	case e.Code == "XX000" || e.Code == "PV002" || e.Code == "PV005" || e.Code[:2] == "08" || e.Code[:2] == "57":
		return "", fmt.Errorf("%s %s", e.Code, e.Message)
	case run > 0:
		return "", fmt.Errorf("%s, but %d statements ran on the reader", e.Code, run)
	case e.Code == "PV001" && (e.Hint == "" || e.Position == 0):
		return "", fmt.Errorf("%s without position or hint: %s", e.Code, e.Message)
	}
	state := fmt.Sprintf("%s: %s%s\n\thint: %s", e.Code, e.Message, caret(u.steps[len(out.results)], e), e.Hint)
	if asked > 0 {
		state += "\n\treader: asked"
	}
	return state, nil
}

// caret shows the text at an error's position.
func caret(step string, e *pgconn.PgError) string {
	if e.Position == 0 {
		return ""
	}
	at, text := int(e.Position), []rune(step)
	if at > len(text)+1 {
		return fmt.Sprintf("\n\tat %d, beyond the end", at)
	}
	rest, _, _ := strings.Cut(string(text[at-1:]), "\n")
	if r := []rune(rest); len(r) > 24 {
		rest = string(r[:24]) + "..."
	}
	return fmt.Sprintf("\n\tat %d: %s", at, rest)
}
