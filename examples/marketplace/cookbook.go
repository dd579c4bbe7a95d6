package marketplace

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

//go:embed cookbook.sql
var cookbook string

// Recipe is a statement of docs/cookbook.md.
type Recipe struct {
	Title string
	Keys  int     // how many of the first columns say what a row is about
	Near  float64 // the page's word: by how much the twin is off at most, in the median of cells; 0: not compared
	Note  string  // what else the page says of it, or nothing
	SQL   string
	Noise string // what to write where the statement itself is not answered with noise, or nothing
}

var (
	recipe = regexp.MustCompile(`^-- (.*) \[(\d+)(?:; (\d+)%)?\]\n`)
	note   = regexp.MustCompile(`(?m)^-- Note: (.*)\n`)
)

// Recipes reads cookbook.sql.
func Recipes() ([]Recipe, error) {
	var all []Recipe
	for i, part := range strings.Split(cookbook, "\n\n") {
		m := recipe.FindStringSubmatch(part)
		if m == nil {
			if i == 0 { // what the file says of itself
				continue
			}
			return nil, fmt.Errorf("cookbook.sql: no title over %q", part)
		}
		r := Recipe{Title: m[1]}
		r.Keys, _ = strconv.Atoi(m[2])
		percent, _ := strconv.Atoi(m[3])
		r.Near = float64(percent) / 100

		// What stands below the title: notes, the statement, and what to ask in its place with noise.
		var notes []string
		for _, n := range note.FindAllStringSubmatch(part, -1) {
			notes = append(notes, n[1])
		}
		r.Note = strings.Join(notes, " ")
		sql, instead, _ := strings.Cut(note.ReplaceAllString(part[len(m[0]):], ""), "-- With noise:\n")
		r.SQL, r.Noise = statement(sql), statement(instead)
		all = append(all, r)
	}
	return all, nil
}

func statement(text string) string { return strings.TrimSuffix(strings.TrimSpace(text), ";") }
