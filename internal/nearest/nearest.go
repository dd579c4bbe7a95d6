// Package nearest finds the word that somebody meant who has misspelt it.
package nearest

import "strings"

// Of is the one of the known words that a word is a misspelling of: at most a third of its letters have to be put in,
// left out, or changed. It is empty where there is none, or where two are as near.
func Of(word string, known []string) string {
	best, far, alone := "", len(word)/3+1, false
	for _, k := range known {
		switch d := distance(strings.ToLower(word), strings.ToLower(k)); {
		case d < far:
			best, far, alone = k, d, true
		case d == far:
			alone = false
		}
	}
	if !alone {
		return ""
	}
	return best
}

// distance is the least number of letters to put in, leave out or change, or of neighbours to swap, that makes b of a.
func distance(a, b string) int {
	// Of the table that compares each beginning of a with each of b, three rows are needed at a time.
	above, row := make([]int, len(b)+1), make([]int, len(b)+1)
	var over []int
	for j := range row {
		row[j] = j
	}

	for i := 1; i <= len(a); i++ {
		over, above, row = above, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], over[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
