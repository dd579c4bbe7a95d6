package corpus

import (
	"strings"
	"testing"

	"fugu/parser"
	"fugu/sqlstate"
)

// What the corpus must hold at least: statements that were read in a tool's own tests or documentation, or recorded
// from the tool, and the number of such tools.
const (
	minSourced = 120
	minTools   = 10
)

func TestSources(t *testing.T) {
	names, units := corpus(t, "accept")
	tools := map[string]int{}
	sourced := 0
	for _, name := range names {
		for _, u := range units[name] {
			if tool := u.tool(); tool != "" {
				tools[tool]++
				sourced++
			}
		}
	}
	t.Logf("%d statements of %d tools: %v", sourced, len(tools), tools)
	if sourced < minSourced || len(tools) < minTools {
		t.Errorf("%d statements of %d tools were read or recorded, want %d of %d", sourced, len(tools), minSourced,
			minTools)
	}
}

func TestTool(t *testing.T) {
	for from, want := range map[string]string{
		"Knex 3.3.0, recorded: with":                      "Knex",
		"Ecto, count: elixir-ecto/ecto_sql, postgres.exs": "Ecto",
		"memory of Ecto, count: perhaps":                  "",
		"hand-written, a view: that filters":              "",
		"psql, \\dt":                                      "",
	} {
		if got := (unit{from: from}).tool(); got != want {
			t.Errorf("%q is of %q, want %q", from, got, want)
		}
	}
}

// tables is the fixture's schema, as the parser sees it.
type tables struct{}

func (tables) Table(schema, name string) (parser.Table, bool) {
	columns, ok := map[string]string{
		"orders": "id customer_id product_id status channel country segment created_at created_on shipped_at " +
			"is_paid is_gift amount tax discount quantity priority rating note",
		"patients": "id sex birth_year region smoker weight height admitted", "visits": "id patient_id department " +
			"visited_on cost minutes urgent",
		"paid_orders": "id customer_id product_id status channel country created_at created_on amount quantity",
		"order_facts": "market channel status day revenue units",
	}[name]
	t := parser.Table{Schema: "public", Name: name, Columns: strings.Fields(columns), View: map[string]string{
		"paid_orders": "SELECT id, customer_id, product_id, status, channel, country, created_at, created_on, " +
			"amount, quantity FROM orders WHERE is_paid",
		"order_facts": "SELECT o.country AS market, o.channel, o.status, o.created_on AS day, o.amount * o.quantity " +
			"AS revenue, o.quantity AS units FROM orders o",
	}[name]}
	if name == "orders" {
		t.Columns = append(t.Columns, "Unit Price")
	}
	return t, ok && (schema == "" || schema == "public")
}

func (tables) Ordinary(_, name string) (parser.Table, error) {
	columns, ok := map[string]string{"countries": "code name region population",
		"products": "id sku name category list_price weight active", "tags": "product_id tag",
		"calendar": "day month quarter is_weekend", "targets": "country month amount"}[name]
	if !ok {
		return parser.Table{}, sqlstate.New(sqlstate.NotAnswerable, "%s cannot be read together with protected rows",
			name)
	}
	return parser.Table{Schema: "public", Name: name, Columns: strings.Fields(columns), Ordinary: true}, nil
}

// The parser reads every statement of the corpus that the golden files say is answered, and refuses no other way than
// they say.
func TestParse(t *testing.T) {
	names, units := corpus(t, "accept")
	for _, name := range names {
		states := goldenStates(t, "accept", name)
		for _, u := range units[name] {
			if u.psql() {
				continue
			}
			state := "equal"
			for _, s := range u.steps {
				if _, err := parser.Parse(s, tables{}); err != nil {
					state = "refused " + string(sqlstate.As(err).Code)
				}
			}
			if was := states[u.key()]; state != was && (state != "equal" || was == "") {
				t.Errorf("%s is %s, the golden file has %q:\n%s", u.name, state, was, u.text())
			}
		}
	}
}
