package build

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// sent is what PostgreSQL sends of rows by COPY in binary; a class of -1 is NULL, and so are no bytes at all.
func sent(classes []int, identities [][]byte) []byte {
	out := []byte(signature)
	for i, class := range classes {
		out = append(out, 0, 2)
		if class < 0 {
			out = append(out, 0xff, 0xff, 0xff, 0xff)
		} else {
			out = binary.BigEndian.AppendUint32(append(out, 0, 0, 0, 4), uint32(class))
		}
		if id := identities[i]; id == nil {
			out = append(out, 0xff, 0xff, 0xff, 0xff)
		} else {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(id))), id...)
		}
	}
	return append(out, 0xff, 0xff)
}

// randomRows are rows of some classes, with identities of up to 40 bytes.
func randomRows(n, classes int) (class []int, identities [][]byte) {
	r := rand.New(rand.NewChaCha8([32]byte{3}))
	for range n {
		id := make([]byte, r.IntN(41))
		for i := range id {
			id[i] = byte(r.Uint32())
		}
		class, identities = append(class, r.IntN(classes)), append(identities, id)
	}
	return class, identities
}

// Rows are read however the stream is cut, and a stream that ends early or is none of COPY's is an error.
func TestRowReader(t *testing.T) {
	classes, ids := randomRows(50, 3)
	classes[7] = -1
	stream := sent(classes, ids)
	read := func(stream []byte, size int) (seen string, r *rowReader) {
		r = &rowReader{header: true, each: func(class int, id []byte) { seen += fmt.Sprintf("%d %x\n", class, id) }}
		for piece := range slices.Chunk(stream, size) {
			if n, err := r.Write(piece); n != len(piece) || err != nil {
				t.Fatalf("%d bytes of %d were taken: %v", n, len(piece), err)
			}
		}
		return seen, r
	}
	var want string
	for i, class := range classes {
		want += fmt.Sprintf("%d %x\n", class, ids[i])
	}
	for size := 1; size <= len(stream); size++ {
		if seen, r := read(stream, size); seen != want || r.err != nil || !r.ended || r.rows != 50 {
			t.Fatalf("in pieces of %d: %d rows, ended %v, %v", size, r.rows, r.ended, r.err)
		}
	}

	if _, r := read(stream[:len(stream)-1], 64); r.ended {
		t.Error("a stream without its end has ended")
	}
	none := sent([]int{1}, [][]byte{nil})
	three := slices.Concat(stream[:len(signature)], []byte{0, 3}, stream[len(signature)+2:])
	for name, damaged := range map[string][]byte{"another signature": bytes.ToLower(stream), "no identity": none,
		"three fields": three} {
		if _, r := read(damaged, 64); r.err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
