package policy

import "slices"

// Covers reports whether each pair of values that another secret's law may not tell apart is one of s's, too: what was
// hidden for the pairs of s is hidden for those of the other. What the secrets are about is not compared, but for
// whether it is a dataset's value or a distribution's.
func (s Secret) Covers(other Secret) bool {
	if s.About != other.About {
		return false
	}

	// A pair across two spans of s is hidden by neither, so one of them has to have all pairs of the other's.
	for _, span := range other.Spans {
		wider := func(own Span) bool { return s.spanCovers(own, span, other.Listed) }
		if !slices.ContainsFunc(s.Spans, wider) {
			return false
		}
	}

	// Pairs of vectors have no order.
	for _, pair := range other.Vectors {
		same := func(own [2][]Share) bool {
			return slices.Equal(own[0], pair[0]) && slices.Equal(own[1], pair[1]) ||
				slices.Equal(own[0], pair[1]) && slices.Equal(own[1], pair[0])
		}
		if !slices.ContainsFunc(s.Vectors, same) {
			return false
		}
	}
	return other.Range == nil || s.Range != nil && s.Range.From <= other.Range.From && other.Range.To <= s.Range.To &&
		other.Range.Within <= s.Range.Within
}

// spanCovers reports whether a span of s has all pairs of another one, of which listed says that they are its ends.
func (s Secret) spanCovers(own, other Span, listed bool) bool {
	if s.Listed {
		return listed && own.From == other.From && own.To == other.To
	}
	apart := other.Within
	if listed {
		apart = other.To - other.From
	}
	return own.From <= other.From && other.To <= own.To && apart <= own.Within
}
