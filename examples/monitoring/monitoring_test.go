package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"fugu/admin"
)

// expressions are those of the dashboard's panels and of the rules, by where they stand.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	text, err := os.ReadFile("grafana/fugu.json")
	if err == nil {
		err = json.Unmarshal(text, &dashboard)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for i, target := range p.Targets {
			out[fmt.Sprintf("panel %q, %d", p.Title, i)] = target.Expr
		}
	}

	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if text, err = os.ReadFile("alerts.yml"); err == nil {
		err = yaml.Unmarshal(text, &rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Groups[0].Rules {
		out["rule "+r.Alert] = r.Expr
	}
	return out
}

var (
	named    = regexp.MustCompile(`\b(?:fugu|process|go)_[a-z_]+`)
	selector = regexp.MustCompile(`\b((?:fugu|process|go)_[a-z_]+)\{([^}]*)\}`)
	grouping = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
	label    = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"`)
)

// scraped are the labels that Prometheus itself puts on each metric.
var scraped = []string{"instance", "job"}

// unknown are the metrics that an expression names and there are not, and the labels that they have not.
func unknown(expression string) (out []string) {
	shown := admin.Metrics()
	all := slices.Clone(scraped)
	for _, name := range named.FindAllString(expression, -1) {
		labels, ok := shown[name]
		if !ok {
			out = append(out, name)
		}
		all = append(all, labels...)
	}
	for _, s := range selector.FindAllStringSubmatch(expression, -1) {
		for _, l := range label.FindAllStringSubmatch(s[2], -1) {
			if !slices.Contains(append(shown[s[1]], scraped...), l[1]) {
				out = append(out, s[1]+"{"+l[1]+"}")
			}
		}
	}
	for _, g := range grouping.FindAllStringSubmatch(expression, -1) {
		for _, l := range strings.Split(g[1], ", ") {
			if !slices.Contains(all, l) {
				out = append(out, "by "+l)
			}
		}
	}
	return out
}

// Each metric and label that the dashboard and the rules name exists.
func TestNames(t *testing.T) {
	all := expressions(t)
	if len(all) < 20 {
		t.Errorf("%d expressions: not all were read", len(all))
	}
	for where, expression := range all {
		if missing := unknown(expression); len(missing) > 0 {
			t.Errorf("%s: there is no %q in %s", where, missing, expression)
		}
		if named.FindString(expression) == "" && !strings.HasPrefix(expression, "up{") {
			t.Errorf("%s names no metric: %s", where, expression)
		}
	}
}

// What does not exist is found.
func TestUnknown(t *testing.T) {
	for expression, want := range map[string]string{
		"sum(rate(fugu_statement_total[5m]))":               "fugu_statement_total",
		"fugu_protected_wait_seconds":                       "fugu_protected_wait_seconds",
		`fugu_errors_total{sqlstate="PV005"}`:               "fugu_errors_total{sqlstate}",
		`sum by (user) (fugu_statements_total)`:             "by user",
		`go_goroutines > 1000`:                              "go_goroutines",
		`fugu_sessions{kind="plain"} + fugu_sessions_limit`: "fugu_sessions{kind}",
	} {
		if got := unknown(expression); !slices.Contains(got, want) {
			t.Errorf("%s: found %q, want %s", expression, got, want)
		}
	}
	right := `sum by (kind, instance) (rate(fugu_statements_total{kind="plain",job="fugu"}[5m]))`
	if got := unknown(right); len(got) > 0 {
		t.Errorf("found %q in what is right", got)
	}
}
