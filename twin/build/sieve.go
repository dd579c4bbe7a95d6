package build

import "math/bits"

// sieve is a set of the numbers of rows that may be taken: none of these is missing from it, and of others it has as
// few as there is room for. PostgreSQL hashes a row in the time in which it looks ten up here, and hashes those alone
// that are in it; which of them are taken is seen by their hashes.
//
// It has a bit for each remainder of a power of two, as numbers that count rows fill that without a gap.
type sieve []byte

// What a sieve has room for: enough for few rows to be alike, and no more than a server has to spare.
const (
	roomOfRow  = 4
	leastSieve = 1 << 10
	mostSieve  = 1 << 26
)

// newSieve is an empty one for a table of so many rows.
func newSieve(rows int64) sieve { return make(sieve, (maskOf(rows)+1)/8) }

// maskOf is of the bits of a number that are looked at, for a table of so many rows.
func maskOf(rows int64) int64 {
	room := int64(1) << bits.Len64(uint64(roomOfRow*rows))
	return min(max(room, leastSieve), mostSieve) - 1
}

// add takes in a number.
func (s sieve) add(number int64) {
	bit := number & (int64(len(s))*8 - 1)
	s[bit>>3] |= 1 << (bit & 7)
}
