package parser

import (
	"cmp"
	"slices"
)

// Places say where the parts of a rewritten text stood in the client's, so that errors about them can say so. The parts
// are the nodes of the tree, since PostgreSQL's errors speak of nothing else. Offsets are in characters, from 0.
type Places struct{ now, before []int32 }

// At gives the position in the client's text of one in the rewritten text, both in characters from 1. What the client
// has not written has none, which is 0.
func (p Places) At(position int32) int32 {
	if i, ok := slices.BinarySearch(p.now, position-1); ok {
		return p.before[i] + 1
	}
	return 0
}

// RewriteShadows returns the text of a statement of which nothing but the shadows had to be rewritten, and where its
// parts stood in the client's text. It can be called once.
func (s *Statement) RewriteShadows() (string, Places, error) {
	moved := map[int32]int32{}
	sql, err := s.deparseAt(func(now, before int32) {
		if old, ok := moved[now]; before > 0 && (!ok || before > old) {
			moved[now] = before
		}
	})
	if err != nil {
		return "", Places{}, err
	}
	return sql, newPlaces(sql, s.src.sql, moved), nil
}

// newPlaces takes the places as reads tells them, as offsets in bytes. Where several nodes begin at one place they may
// have stood at several, behind parentheses, say: then the last is meant, which belongs to the innermost.
func newPlaces(sql, client string, moved map[int32]int32) Places {
	offsets := make([]int32, 0, len(moved))
	for now := range moved {
		offsets = append(offsets, now)
	}
	slices.Sort(offsets)
	p := Places{now: characters(sql, offsets)}
	for _, now := range offsets {
		p.before = append(p.before, moved[now])
	}

	// The client's are not in order, and a text is counted through in order.
	order := make([]int, len(offsets))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p.before[i], p.before[j]) })
	sorted := make([]int32, len(order))
	for i, o := range order {
		sorted[i] = p.before[o]
	}
	for i, n := range characters(client, sorted) {
		p.before[order[i]] = n
	}
	return p
}

// characters turns ascending offsets in bytes into offsets in characters.
func characters(text string, offsets []int32) []int32 {
	out := make([]int32, len(offsets))
	bytes, n := int32(0), int32(0)
	for i, offset := range offsets {
		offset = min(offset, int32(len(text)))
		n += int32(charPosition(text[bytes:], int(offset-bytes))) - 1
		bytes, out[i] = offset, n
	}
	return out
}

// Size is how many bytes they keep alive.
func (p Places) Size() int { return 48 + 4*(len(p.now)+len(p.before)) }
