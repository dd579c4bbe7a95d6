package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fugu/planner"
)

// combination is so many rows of the reference that have one class of each secret.
type combination struct {
	classes []int
	rows    float64
}

// tiedTogether finds secrets of which one follows from several others together, though no two of them are tied: shares
// that add up, one that says whether others agree. Each is hidden by itself, and their values together are not.
func tiedTogether(secrets []planner.Secret, table []combination, pairs []Tie) (out []Tie) {
	loose := func(group []int) bool {
		return !slices.ContainsFunc(pairs, func(t Tie) bool {
			in := func(name string) bool {
				return slices.ContainsFunc(group, func(i int) bool { return secrets[i].Name == name })
			}
			return in(t.A) && in(t.B)
		})
	}

	consider := func(group []int) {
		if !loose(group) {
			return
		}
		for last := range group {
			others := slices.Delete(slices.Clone(group), last, last+1)
			if !follows(table, group[last], others) {
				continue
			}
			var names []string
			for _, i := range others {
				names = append(names, secrets[i].Name)
			}
			out = append(out, Tie{A: strings.Join(names, ", "), B: secrets[group[last]].Name,
				What: fmt.Sprintf("the reference has no row in which %s does not follow from the others together",
					secrets[group[last]].Name)})
			return // each of them may follow from the rest: once is enough
		}
	}

	// Three at a time; and all of them, where no three are tied.
	for k := range secrets {
		for j := range k {
			for i := range j {
				consider([]int{i, j, k})
			}
		}
	}

	if len(secrets) > 3 && len(out) == 0 {
		all := make([]int, len(secrets))
		for i := range all {
			all[i] = i
		}
		consider(all)
	}
	return out
}

// follows reports whether rows with the same classes of the others have one class of a secret, and enough of them would
// have another if it were independent for this to be no chance.
func follows(table []combination, secret int, others []int) bool {
	type seen struct {
		class int
		rows  float64
	}

	byOthers, share, all := map[string]seen{}, map[int]float64{}, 0.0
	for _, c := range table {
		if c.rows == 0 {
			continue
		}
		key := ""
		for _, o := range others {
			key += fmt.Sprint(c.classes[o], " ")
		}
		before, met := byOthers[key]
		if met && before.class != c.classes[secret] {
			return false
		}
		byOthers[key] = seen{c.classes[secret], before.rows + c.rows}
		share[c.classes[secret]] += c.rows
		all += c.rows
	}

	// By chance some of the rows would be elsewhere, were it not tied; of a few rows that says nothing.
	missing := 0.0                                           // rows that would be elsewhere
	for _, key := range slices.Sorted(maps.Keys(byOthers)) { // in one order, so that the sum is one number
		s := byOthers[key]
		missing += s.rows * (1 - share[s.class]/all)
	}
	return missing > fewExpected
}
