package joint

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"fugu/test/patient"
)

func TestEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRelease(t, drawSample(t), nil)
		data, err := r.Terms.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back Terms
		if err := back.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(&back, r.Terms) {
			t.Fatal("decoded terms are not those encoded")
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if err := back.UnmarshalBinary(data[:cut]); !errors.Is(err, errEncoding) {
			t.Fatalf("%d of %d bytes: %v", cut, len(data), err)
		}
		if err := back.UnmarshalBinary(append(data, 0)); !errors.Is(err, errEncoding) {
			t.Fatalf("a byte more: %v", err)
		}
	})
}

// A count in 20 cells over 10,000 rows takes less than 10 kB, a sum of whole numbers in them less than 25.
func TestEncodingIsSmall(t *testing.T) {
	patient.Test(t)
	const rows, cells = 10_000, 20
	rng := rand.New(rand.NewPCG(1, 1))
	g := Group{Cells: make([]int16, rows), Columns: []Column{{At: make([]int, cells)}}}
	values := make([]float64, rows)
	for r := range g.Cells {
		g.Cells[r], values[r] = int16(rng.IntN(cells+1)-1), float64(17+rng.IntN(70))
	}
	for k := range cells {
		g.Columns[0].At[k] = k
	}
	for _, most := range []int{10_000, 25_000} {
		terms, err := NewTerms(rows, cells, []Group{g})
		if err != nil {
			t.Fatal(err)
		}
		data, err := terms.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d bytes", len(data))
		if len(data) > most {
			t.Errorf("%d bytes, more than %d", len(data), most)
		}
		g.Columns[0].Values = values
	}
}

// What does not decode is an error; what does is sound, and decodes to the same again.
func FuzzTerms(f *testing.F) {
	for _, groups := range [][]Group{nil,
		{{Cells: []int16{0, -1, 1}, Columns: []Column{{At: []int{1, 0}}}}},
		{{Cells: []int16{0, 0, -1}, Columns: []Column{{At: []int{2}, Values: []float64{1, -2.5, 0}}, {At: []int{0}}}}},
	} {
		terms, err := NewTerms(3, 3, groups)
		if err != nil {
			f.Fatal(err)
		}
		data, err := terms.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}

	f.Fuzz(func(t *testing.T, data []byte) {
		var terms, again Terms
		if err := terms.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, errEncoding) {
				t.Fatal(err)
			}
			return
		}

		copied, err := NewTerms(terms.rows, terms.width, terms.groups)
		if err != nil || !reflect.DeepEqual(copied, &terms) {
			t.Fatalf("decoded terms that are none: %v", err)
		}
		data, err = terms.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(data); err != nil || !reflect.DeepEqual(terms, again) {
			t.Fatalf("decoded again they are others: %v", err)
		}
	})
}
