package sensitivity

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// everyMovement calls f with what the extreme points of the sum of the lists' sets move each component by at most: for
// each list as many cells as it has rows, one of them shown at most, whole, and nothing in the others; sets of opposite
// signs against each other, and those without a sign whichever way is worse.
func everyMovement(m int, list []Unseen, f func(u []float64)) {
	signed, either := make([]float64, m), make([]float64, m)
	var next func(list []Unseen)
	next = func(list []Unseen) {
		if len(list) == 0 {
			out := slices.Clone(either)
			for k, v := range signed {
				out[k] += math.Abs(v)
			}
			f(out)
			return
		}

		u := list[0]
		cells := slices.Compact(slices.Clone(u.Cell))
		at, by := either, 1.
		if u.Sign != 0 {
			at, by = signed, float64(u.Sign)
		}
		for mask := range 1 << len(cells) {
			rows, shown := 0, 0
			for i, c := range cells {
				rows += mask >> i & 1
				if u.Shown != nil && u.Shown[slices.Index(u.Cell, c)] {
					shown += mask >> i & 1
				}
			}

			if rows > u.Rows || shown > 1 {
				continue
			}
			before := slices.Clone(at)
			for i, k := range u.At {
				at[k] += by * u.Size[i] * float64(mask>>slices.Index(cells, u.Cell[i])&1)
			}
			next(list[1:])
			copy(at, before)
		}
	}
	next(list)
}

func drawUnseen(t *rapid.T, m int) Unseen {
	u := Unseen{Rows: rapid.IntRange(1, 4).Draw(t, "rows"), Sign: rapid.IntRange(-1, 1).Draw(t, "sign")}
	some, cell, shown := rapid.Bool().Draw(t, "some are shown"), 7, false
	for k := range m {
		if rapid.IntRange(0, 3).Draw(t, "left out") == 0 {
			continue
		}
		if rapid.Bool().Draw(t, "next cell") {
			cell--
			shown = some && rapid.Bool().Draw(t, "shown")
		}
		if some {
			u.Shown = append(u.Shown, shown)
		}
		u.At, u.Cell, u.Size = append(u.At, k), append(u.Cell, cell),
			append(u.Size, rapid.Float64Range(0, 3).Draw(t, "size"))
	}
	return u
}

// worstMovement returns the largest norms of fixed with a movement of list added, by trying the extreme points.
func worstMovement(list []Unseen, fixed, scale []float64) (one, two float64) {
	everyMovement(len(fixed), list, func(u []float64) {
		a, b := 0.0, 0.0
		for k, v := range u {
			v = (v + fixed[k]) / scale[k]
			a, b = a+v, b+v*v
		}
		one, two = math.Max(one, a), math.Max(two, math.Sqrt(b))
	})
	return one, two
}

// The norms of one Unseen are those of its worst extreme point, and so are a Shift's with one; of several, no extreme
// point of their sum is longer, the sum norm is reached where none are opposite, and the Euclidean one is no more than
// that of the box.
func TestNormsOfUnseen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 6).Draw(t, "m")
		draw := func(name string, low, high float64) []float64 {
			return rapid.SliceOfN(rapid.Float64Range(low, high), m, m).Draw(t, name)
		}
		s := Shift{Along: draw("along", -2, 2), Beside: draw("beside", 0, 2)}
		for range rapid.IntRange(1, 3).Draw(t, "sets") {
			u := drawUnseen(t, m)
			if err := u.Check(m); err != nil {
				t.Fatal(err)
			}
			s.Unseen = append(s.Unseen, u)
		}

		scale := draw("scale", .5, 5)
		if i := rapid.IntRange(0, 2*m).Draw(t, "left out"); i < m {
			scale[i] = math.Inf(1)
		}
		same := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-9*(1+want) {
				t.Fatalf("%s: %g, and the worst of all movements is %g", what, got, want)
			}
		}

		// One Unseen by itself.
		fixed := make([]float64, m)
		one, two := worstMovement(s.Unseen[:1], fixed, scale)
		same("Norm1 of one", s.Unseen[0].Norm1(scale), one)
		same("Norm2 of one", s.Unseen[0].Norm2(scale), two)

		// All of them on top of what the Shift has besides, and the box around that.
		most := 0.0
		for k, v := range s.Box() {
			fixed[k] = math.Abs(s.Along[k]) + s.Beside[k]
			most = math.Hypot(most, (v+math.Abs(s.Along[k]))/scale[k])
		}

		one, two = worstMovement(s.Unseen, fixed, scale)
		mixed := slices.ContainsFunc(s.Unseen, func(u Unseen) bool { return u.Sign != s.Unseen[0].Sign })
		if _, _, opposite := s.opposite(); !opposite && !mixed {
			same("Norm1 of a shift", s.Norm1(scale), one)
		} else if got := s.Norm1(scale); got < one*(1-1e-12) {
			t.Fatalf("Norm1 of a shift: %g, and a movement has %g", got, one)
		}

		if got := s.Norm2(scale); got < two*(1-1e-12) || got > most*(1+1e-12) {
			t.Fatalf("Norm2 of a shift: %g, the worst of all movements is %g, the box around them %g", got, two, most)
		}
		if len(s.Unseen) == 1 {
			same("Norm2 of a shift", s.Norm2(scale), two)
		}
	})
}

// What is set aside for unseen rows is a part of the floor, hides every movement as well as it says, and leaves more
// than as much of every floor would; for unseen rows alone it hides no less.
func TestWhatHidesUnseenRows(t *testing.T) {
	less := 0
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 6).Draw(t, "m")
		r := Release{Floor: rapid.SliceOfN(rapid.Float64Range(.1, 9), m, m).Draw(t, "floor")}
		alone := rapid.Bool().Draw(t, "alone")
		if !alone {
			r.Beside = rapid.SliceOfN(rapid.Float64Range(0, 1), m, m).Draw(t, "beside")
		}
		for range rapid.IntRange(0, 2).Draw(t, "lists") {
			var list []Unseen
			for range rapid.IntRange(0, 2).Draw(t, "sets") {
				list = append(list, drawUnseen(t, m))
			}
			r.Unseen = append(r.Unseen, list)
		}

		part, kappa := r.besides()
		for k, v := range part {
			if !(v >= 0 && v <= r.Floor[k]) {
				t.Fatalf("%g of %g is set aside", v, r.Floor[k])
			}
			if v < r.Floor[k] {
				less++
			}
		}

		worst, all := 0.0, 0.0
		for _, list := range append(r.Unseen, nil) {
			everyMovement(m, list, func(u []float64) {
				a, b := 0.0, 0.0
				for k, v := range u {
					if r.Beside != nil {
						v += r.Beside[k]
					}
					if v > 0 {
						a, b = a+v*v/part[k], b+v*v/r.Floor[k]
					}
				}

				worst, all = math.Max(worst, math.Sqrt(a)), math.Max(all, math.Sqrt(b))
			})
		}
		if kappa < worst*(1-1e-9) {
			t.Fatalf("κ = %g, and a movement has %g", kappa, worst)
		}
		if single := len(r.Unseen) == 1 && len(r.Unseen[0]) == 1; alone && single && math.Abs(kappa-all) > 1e-9*all {
			t.Fatalf("κ = %g, of the whole floor %g", kappa, all)
		}
	})

	if less == 0 {
		t.Error("always all of the floor is set aside")
	}
}

func TestUnseenThatIsNone(t *testing.T) {
	good := Unseen{Rows: 1, At: []int{0, 1, 3}, Cell: []int{5, 5, 2}, Size: []float64{1, 2, 3}}
	if err := good.Check(4); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Unseen){
		"no rows":          func(u *Unseen) { u.Rows = 0 },
		"component beyond": func(u *Unseen) { u.At[2] = 4 },
		"component twice":  func(u *Unseen) { u.At[2] = 0 },
		"a cell in two":    func(u *Unseen) { u.Cell = []int{5, 2, 5} },
		"negative":         func(u *Unseen) { u.Size[0] = -1 },
		"NaN":              func(u *Unseen) { u.Size[0] = math.NaN() },
		"infinite":         func(u *Unseen) { u.Size[0] = math.Inf(1) },
		"lengths":          func(u *Unseen) { u.Cell = u.Cell[1:] },
		"two signs":        func(u *Unseen) { u.Sign = 2 },
		"half shown":       func(u *Unseen) { u.Shown = []bool{true, false, false} },
		"not all shown":    func(u *Unseen) { u.Shown = []bool{true} },
	} {
		u := Unseen{Rows: good.Rows, At: slices.Clone(good.At), Cell: slices.Clone(good.Cell),
			Size: slices.Clone(good.Size)}
		spoil(&u)
		if err := u.Check(4); err == nil {
			t.Errorf("%s: %+v is taken", name, u)
		}
		f := family(rand.New(rand.NewPCG(1, 1)), []int{1, 1, 1, 1})
		r := Release{Unseen: [][]Unseen{{u}}, Gaussian: variances(1, 1, 1, 1), Floor: ones(4, 1)}
		if c, err := Certify(f, r, budgetOf(5, .1)); err == nil {
			t.Errorf("%s: certified, %+v", name, c)
		}
	}
}

// Statements side by side: the unseen rows of each are in cells of their own, and add up.
func TestUnseenOfStatements(t *testing.T) {
	one := Shift{Secret: "s", Along: []float64{1, 1}, Beside: []float64{0, 0},
		Unseen: []Unseen{{Rows: 1, At: []int{0, 1}, Cell: []int{0, 1}, Size: []float64{3, 4}}}}
	both := Stack([][]Shift{{one}, {one}}, []int{2, 2})
	if len(both) != 1 || len(both[0].Unseen) != 2 || !slices.Equal(both[0].Unseen[1].At, []int{2, 3}) ||
		both[0].Unseen[0].At[0] != 0 {
		t.Fatalf("%+v", both)
	}

	if got := both[0].Aside().Norm1(nil); got != 8 {
		t.Errorf("two statements move by %g, not by 8", got)
	}
	if got := one.Aside().Norm1(nil); got != 4 {
		t.Errorf("one statement moves by %g, not by 4", got)
	}
	wide, err := Cover(one.Unseen, []Unseen{{Rows: 2, At: []int{0, 1}, Cell: []int{0, 1}, Size: []float64{5, 1}}})
	if err != nil || wide[0].Rows != 2 || !slices.Equal(wide[0].Size, []float64{5, 4}) || one.Unseen[0].Size[0] != 3 {
		t.Errorf("%+v", wide)
	}
	if _, err := Cover(one.Unseen, both[0].Unseen); err == nil || !strings.Contains(err.Error(), "1 kinds do not") {
		t.Errorf("one list covers two: %v", err)
	}
	if _, err := Cover(one.Unseen, both[0].Unseen[1:]); err == nil || !strings.Contains(err.Error(), "kind 0 are in") {
		t.Errorf("cells of other components are covered: %v", err)
	}
}

// Rows of a class whose share grows, and of one whose share shrinks, cannot add up: the norm is that of a right angle,
// and of rows in the same cell less still.
func TestOppositeRows(t *testing.T) {
	s := Shift{Secret: "s", Along: []float64{0, 0}, Beside: []float64{0, 0}, Unseen: []Unseen{
		{Rows: 1, At: []int{0, 1}, Cell: []int{0, 1}, Size: []float64{3, 3}, Sign: 1},
		{Rows: 1, At: []int{0, 1}, Cell: []int{0, 1}, Size: []float64{4, 4}, Sign: -1}}}
	if got := s.Norm2(nil); math.Abs(got-5) > 1e-12 {
		t.Errorf("opposite rows have the norm %g, not 5", got)
	}
	s.Unseen[1].Sign = 1
	if got := s.Norm2(nil); math.Abs(got-7) > 1e-12 {
		t.Errorf("rows of one sign have the norm %g, not 7", got)
	}
	turned, err := Cover(s.Unseen, []Unseen{s.Unseen[0], {Rows: 1, At: []int{0, 1}, Cell: []int{0, 1},
		Size: []float64{1, 1}, Sign: -1}})
	if err != nil || turned[0].Sign != 0 || turned[1].Sign != 0 {
		t.Errorf("what covers opposite rows and others: %+v", turned)
	}
	s.Unseen[1].Sign = -1
	turned, err = Cover(s.Unseen, []Unseen{{Rows: 1, At: []int{0, 1}, Cell: []int{0, 1}, Size: []float64{1, 1},
		Sign: -1}, {Rows: 1, At: []int{0, 1}, Cell: []int{0, 1}, Size: []float64{1, 1}, Sign: 1}})
	if err != nil || turned[0].Sign != 1 || turned[1].Sign != -1 {
		t.Errorf("what covers a pair in both orders: %+v", turned)
	}
}

// More than one row is in cells that are not shown: of cells that are, one holds a row.
func TestShownCellsHoldOneRow(t *testing.T) {
	u := Unseen{Rows: 3, At: []int{0, 1, 2, 3, 4}, Cell: []int{0, 1, 2, 3, 4}, Size: []float64{1, 2, 3, 5, 4},
		Shown: []bool{false, false, false, true, true}}
	if got := u.Norm1([]float64{1, 1, 1, 1, 1}); got != 3+2+5 {
		t.Errorf("three rows add %g, at most 10", got)
	}
	u.Shown = nil
	if got := u.Norm1([]float64{1, 1, 1, 1, 1}); got != 3+4+5 {
		t.Errorf("three rows add %g anywhere, at most 12", got)
	}
}
