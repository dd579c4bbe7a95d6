package planner

import (
	"slices"
	"strconv"
	"strings"

	"fugu/parser"
)

// Told is what a row of the root's reference shows of itself, or the values that are among what belongs to it.
type Told struct {
	from string
	by   []string // SQL over from
	rows string   // counts the rows of the root
}

// tells is a piece of SQL over one row of a source.
type tells struct {
	rel int
	sql string
}

// maxStacked is how often each row may stand in a reference by design, and be taken for one.
const maxStacked = 12

// mostAlike is how many rows that are told the same are counted as they are: one more than can stand by design.
const mostAlike = maxStacked + 1

// None reports whether nothing is told.
func (t Told) None() bool { return len(t.by) == 0 }

// counts composes the statement of alike: a row holds the label, if there is one, how many rows are told the same,
// and how many such sets of values there are.
func (t Told) counts(label string) string {
	var inner, outer, by []string
	group := []string{"1"}
	if label != "" {
		inner, outer, group = []string{label + " AS s"}, []string{"s"}, []string{"1", "2"}
	}
	for i, e := range t.by {
		inner = append(inner, e+" AS c"+strconv.Itoa(i))
	}
	for i := range inner {
		by = append(by, strconv.Itoa(i+1))
	}
	n := "LEAST(" + t.rows + ", " + strconv.Itoa(mostAlike+1) + ") AS n"
	sets := parser.SelectSQL(append(inner, n), t.from, "", by)
	return parser.SelectSQL(append(outer, "n", "pg_catalog.count(*)"), "("+sets+") AS q", "", group)
}

// apartBy is what tells a row of the root from others: what its own columns are, and what columns are in the rows
// that belong to it, all of these in an order that does not matter.
func (b *Bound) apartBy(list []tells) Told {
	if len(list) == 0 {
		return Told{}
	}
	of := map[int][]string{}
	for _, t := range list {
		of[t.rel] = append(of[t.rel], t.sql)
	}
	for rel, sql := range of {
		slices.Sort(sql)
		of[rel] = slices.Compact(sql)
	}
	from, by := b.belonging(b.sources.root, of)
	return Told{from, by, "pg_catalog.count(*)"}
}

// belonging composes a FROM clause with each row of a source's reference once, and what it is told apart by:
// expressions over it, and for each source whose rows belong to its rows the list of what those are told apart by.
func (b *Bound) belonging(rel int, of map[int][]string) (from string, by []string) {
	from, by = b.sources.tables[rel].Reference+" AS "+parser.Alias("t", rel), slices.Clone(of[rel])
	for _, child := range b.sources.protected {
		if p, ok := b.sources.parent[child]; !ok || p != rel {
			continue
		}

		inner, own := b.belonging(child, of)
		list := "true" // that there are any
		if len(own) > 0 {
			row := "ROW(" + strings.Join(own, ", ") + ")::pg_catalog.text"
			list = "pg_catalog.string_agg(" + row + ", ',' ORDER BY " + row + ` COLLATE "C")`
		}

		// The lists are joined by the keys of the link, one for each row that the child's rows belong to.
		columns, name := []string{list + " AS list"}, parser.Alias("l", child)
		var keys, on []string
		for i, k := range b.sources.tables[child].Link.Keys {
			key := columnSQL(k.Own, child)
			columns, keys = append(columns, key+" AS k"+strconv.Itoa(i)), append(keys, key)
			on = append(on, name+".k"+strconv.Itoa(i)+" = "+columnSQL(k.To, rel))
		}
		lists := parser.SelectSQL(columns, inner, "", keys)
		from += " LEFT JOIN (" + lists + ") AS " + name + " ON " + strings.Join(on, " AND ")
		by = append(by, name+".list")
	}
	return from, by
}

// combinedBy is what tells apart the combinations of rows that belong to a row of the root, each by itself; none where
// it is what tells rows of the root apart, and where an outer join adds a row to those of which it finds none: that
// depends on all that belongs to a row together.
func (b *Bound) combinedBy(list []tells) Told {
	outer := func(rel int) bool { return b.sources.source(rel).Left }
	if slices.ContainsFunc(b.sources.protected, outer) {
		return Told{}
	}
	var by []string
	var rels []int
	for _, t := range list {
		by, rels = append(by, t.sql), append(rels, t.rel)
	}
	if needed := b.upTo(rels); len(needed) > 1 {
		return b.combinations(needed, by)
	}
	return Told{}
}

// valuesOfRows are the values that expressions have in the combinations of rows that belong to a row of the root.
func (b *Bound) valuesOfRows(of []parser.Expr) Told {
	var by []string
	var rels []int
	for _, e := range of {
		by = append(by, parser.SQL(e, "t", nil))
		for _, c := range columns(e) {
			rels = append(rels, c.Rel)
		}
	}
	return b.combinations(b.upTo(rels), by)
}

// upTo are some protected sources with those between them and the root.
func (b *Bound) upTo(rels []int) map[int]bool {
	out := map[int]bool{b.sources.root: true}
	for _, rel := range rels {
		for ; !out[rel]; rel = b.sources.parent[rel] {
			out[rel] = true
		}
	}
	return out
}

// combinations tells by expressions what is in the combinations of rows of the needed sources' references. A row of
// the root counts once for all of its combinations that are alike.
func (b *Bound) combinations(needed map[int]bool, by []string) Told {
	slices.Sort(by)
	root := parser.Alias("t", b.sources.root)

	// Over the root alone each row is one. Joined rows of a root count as one, too.
	out := Told{b.Table.Reference + " AS " + root, slices.Compact(by), "pg_catalog.count(*)"}
	if len(needed) == 1 {
		return out
	}
	out.rows = "pg_catalog.count(DISTINCT (" + root + ".tableoid, " + root + ".ctid))"
	out.from += b.joinedTo(b.sources.root, needed)
	return out
}

// joinedTo joins the needed sources whose rows belong to those of one, and what belongs to them.
func (b *Bound) joinedTo(rel int, needed map[int]bool) string {
	out := ""
	for _, child := range b.sources.protected {
		if p, ok := b.sources.parent[child]; !ok || p != rel || !needed[child] {
			continue
		}
		var on []string
		for _, k := range b.sources.tables[child].Link.Keys {
			on = append(on, columnSQL(k.Own, child)+" = "+columnSQL(k.To, rel))
		}
		out += " JOIN " + b.sources.tables[child].Reference + " AS " + parser.Alias("t", child) +
			" ON " + strings.Join(on, " AND ") + b.joinedTo(child, needed)
	}
	return out
}
