// Package marketplace reads this directory's questions for Go programs: thirty statements of an analyst of a
// marketplace whose policy is answered from twins. It runs nothing.
package marketplace

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

//go:embed analyst.sql
var analyst string

// Question is a statement of an analyst's.
type Question struct {
	Number int
	Title  string
	Keys   int // how many of the first columns say what a row is about
	SQL    string
}

// title is the line before a question.
var title = regexp.MustCompile(`^-- (\d+)\. (.*) \[(\d+)\]\n`)

// Questions reads analyst.sql.
func Questions() ([]Question, error) {
	var all []Question
	for i, part := range strings.Split(analyst, "\n\n") {
		m := title.FindStringSubmatch(part)
		if m == nil {
			if i == 0 { // what the file says of itself
				continue
			}
			return nil, fmt.Errorf("analyst.sql: no title over %q", part)
		}
		number, _ := strconv.Atoi(m[1])
		keys, _ := strconv.Atoi(m[3])
		sql := strings.TrimSuffix(strings.TrimSpace(part[len(m[0]):]), ";")
		all = append(all, Question{number, m[2], keys, sql})
	}
	return all, nil
}
