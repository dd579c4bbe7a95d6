package build

import (
	"crypto/sha256"
	"encoding/binary"
)

// digest is a fingerprint of which rows are of which class, by their hashes: another set of rows, or a row of another
// class, has another one, but for a chance of about 2^-24 for each bucket that changed. It says nothing of other columns.
type digest [sha256.Size]byte

func newDigest() *digest { return &digest{} }

// add takes in a bucket of a class: how many rows it has, and the sum of their hashes. Buckets may come in any order.
func (d *digest) add(class, bucket int, rows, hashes int64) {
	var b [32]byte
	for i, v := range []int64{int64(class), int64(bucket), rows, hashes} {
		binary.BigEndian.PutUint64(b[8*i:], uint64(v))
	}
	for i, x := range sha256.Sum256(b[:]) {
		d[i] ^= x
	}
}

func (d *digest) bytes() []byte { return d[:] }
