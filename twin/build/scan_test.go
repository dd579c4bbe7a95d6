package build

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// sent is what PostgreSQL sends of rows by COPY in binary; a class of -1 is NULL.
func sent(classes []int, hashes [][]byte) []byte {
	out := []byte(signature)
	for i, class := range classes {
		out = append(out, 0, 2)
		if class < 0 {
			out = append(out, 0xff, 0xff, 0xff, 0xff)
		} else {
			out = binary.BigEndian.AppendUint32(append(out, 0, 0, 0, 4), uint32(class))
		}
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(hashes[i]))), hashes[i]...)
	}
	return append(out, 0xff, 0xff)
}

// randomRows are hashes, of a few buckets so that many share one, and classes.
func randomRows(n, classes int) (class []int, hashes [][]byte) {
	r := rand.NewChaCha8([32]byte{3})
	for range n {
		h := make([]byte, 2*half)
		_, _ = r.Read(h)
		h[0], h[half] = 0, 0
		h[1], h[half+1] = h[1]%8, h[half+1]%8
		class, hashes = append(class, int(h[2])%classes), append(hashes, h)
	}
	return class, hashes
}

// Rows are read however the stream is cut, and a stream that ends early or is none of COPY's is an error.
func TestRowReader(t *testing.T) {
	classes, hashes := randomRows(50, 3)
	classes[7] = -1
	stream := sent(classes, hashes)
	read := func(stream []byte, size int) (seen string, r *rowReader) {
		r = &rowReader{header: true, each: func(class int, h []byte) { seen += fmt.Sprintf("%d %x\n", class, h) }}
		for piece := range slices.Chunk(stream, size) {
			if n, err := r.Write(piece); n != len(piece) || err != nil {
				t.Fatalf("%d bytes of %d were taken: %v", n, len(piece), err)
			}
		}
		return seen, r
	}
	var want string
	for i, class := range classes {
		want += fmt.Sprintf("%d %x\n", class, hashes[i])
	}
	for size := 1; size <= len(stream); size++ {
		if seen, r := read(stream, size); seen != want || r.err != nil || !r.ended || r.rows != 50 {
			t.Fatalf("in pieces of %d: %d rows, ended %v, %v", size, r.rows, r.ended, r.err)
		}
	}

	if _, r := read(stream[:len(stream)-1], 64); r.ended {
		t.Error("a stream without its end has ended")
	}
	short := sent([]int{1}, [][]byte{hashes[0][:half]})
	three := slices.Concat(stream[:len(signature)], []byte{0, 3}, stream[len(signature)+2:])
	for name, damaged := range map[string][]byte{"another signature": bytes.ToLower(stream), "half a hash": short,
		"three fields": three} {
		if _, r := read(damaged, 64); r.err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The n-th smallest of each class is that of the rows in order, for every n.
func TestCut(t *testing.T) {
	classes, hashes := randomRows(400, 2)
	counted, ordered := newHistogram(2), make([][][]byte, 2)
	for i, class := range classes {
		counted[class][bucketOf(hashes[i])]++
		ordered[class] = append(ordered[class], hashes[i])
	}
	for class := range ordered {
		slices.SortFunc(ordered[class], bytes.Compare)
		for n := range len(ordered[class]) + 1 {
			of := make([]int64, 2)
			of[class] = int64(n)
			cuts := cutsAt(counted, of)
			for i, c := range classes {
				cuts[c].hold(hashes[i])
			}
			want := []byte{}
			if n > 0 {
				want = ordered[class][n-1]
			}
			if got, err := cuts[class].value(); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("class %d, %d of %d: %x and not %x, %v", class, n, len(ordered[class]), got, want, err)
			}
			if n > 0 && len(cuts[class].held) > 100 {
				t.Fatalf("%d of %d rows are held for one", len(cuts[class].held), len(ordered[class]))
			}
		}
	}
	cuts := cutsAt(counted, []int64{5, 5})
	if _, err := cuts[0].value(); err == nil {
		t.Error("rows that were counted and did not come are no error")
	}
}
