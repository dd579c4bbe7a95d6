package fit

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"fugu/quote"
)

// Describe says what the reference shows of a secret.
func (s Secret) Describe() string {
	var parts []string
	for i, n := range s.Classes {
		parts = append(parts, fmt.Sprintf("%.0f %s", n, s.Where[i]))
	}
	if len(parts) == 0 {
		return "the table has no reference"
	}
	return "reference rows " + strings.Join(parts, ", ")
}

// Remarks says in words what the numbers of the report mean, the worst of each kind.
func (r Report) Remarks() []string {
	var out []string
	for _, s := range r.Secrets {
		var off, ratio, movement, missed float64
		var offWhere, ratioWhere, missedWhere string
		var at [2]float64

		// The worst statement of each kind is the one that is told.
		for _, st := range r.Statements {
			for _, q := range st.Qualities {
				if q.Secret != s.Secret {
					continue
				}
				if q.Off >= off && q.Assessed > 0 {
					off, offWhere = q.Off, q.Component+" of "+Brief(st.Statement)
				}
				if x := orInfinite(q.CovarianceRatio); x >= ratio {
					ratio, ratioWhere, at = x, Brief(st.Statement), q.At
				}
				if q.Missed > missed {
					movement, missed, missedWhere = q.Movement, q.Missed, Brief(st.Statement)
				}
			}
		}

		if offWhere != "" {
			out = append(out, fmt.Sprintf("secret %s: that statistics are normal is %s: the worst is %s, whose "+
				"probabilities are off by about %s", s.Secret, gaussianWords(off), offWhere, quote.Short(off)))
		}
		switch {
		case math.IsInf(ratio, 1):
			out = append(out, fmt.Sprintf("secret %s: something in %s varies at one of the values %s and %s only, "+
				"which tells them apart", s.Secret, ratioWhere, quote.Short(at[0]), quote.Short(at[1])))
		case ratioWhere != "":
			out = append(out, fmt.Sprintf("secret %s: variances differ by up to the factor %s, between the values "+
				"%s and %s, in %s: translation holds up to that", s.Secret, quote.Short(ratio), quote.Short(at[0]),
				quote.Short(at[1]), ratioWhere))
		}
		if missedWhere != "" {
			out = append(out, fmt.Sprintf("secret %s: how far it moves F is known least well in %s: %s ± %s (one "+
				"standard error) in units of what sampling alone moves it; privacy.estimation makes the noise cover "+
				"it", s.Secret, missedWhere, quote.Short(movement), quote.Short(missed)))
		}
	}

	for _, st := range r.Statements {
		if st.EmptyCount > 0 {
			more := ""
			if st.EmptyCount > len(st.Empty) {
				more = ", ..."
			}
			out = append(out, fmt.Sprintf("%s: no reference row in %d of %d groups (%s%s): their movement is taken "+
				"for what one row more would show, their averages for NULL",
				Brief(st.Statement), st.EmptyCount, st.Cells, strings.Join(st.Empty, "; "), more))
		}
	}
	return out
}

var plainName = regexp.MustCompile(`"([a-z_][a-z0-9_]*)"`)

// Brief writes a statement on one line for people, without quotes around plain names.
func Brief(sql string) string {
	return plainName.ReplaceAllString(strings.Join(strings.Fields(sql), " "), "$1")
}

func orInfinite(x *float64) float64 {
	if x == nil {
		return math.Inf(1)
	}
	return *x
}
