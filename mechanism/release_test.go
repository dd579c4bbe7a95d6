package mechanism

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The same randomness on F and on F+d gives texts that differ by d: what is released is F plus the noise.
func TestReleaseIsStatisticPlusNoise(t *testing.T) {
	r := counts(3, budget(1, 1e-6))
	for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
		c := calibrated(t, kind, r)
		zero, err := c.Noise.Release(seeded(9), statistics(0, 0, 0))
		if err != nil {
			t.Fatal(err)
		}
		far, err := c.Noise.Release(seeded(9), statistics(1e12, -7, 1<<80))
		if err != nil {
			t.Fatal(err)
		}
		for k, d := range []*big.Int{big.NewInt(1e12), big.NewInt(-7), new(big.Int).Lsh(big.NewInt(1), 80)} {
			a, _ := new(big.Int).SetString(zero.Values()[k], 10)
			b, _ := new(big.Int).SetString(far.Values()[k], 10)
			if b.Sub(b, a).Cmp(d) != 0 || a.Sign() == 0 {
				t.Errorf("%s: %v and %v", kind, zero, far)
			}
		}
	}
}

func TestReleaseRefuses(t *testing.T) {
	c := calibrated(t, Directional, counts(2, budget(1, 1e-6)))
	quiet := func(spoil func(*Noise)) Noise {
		n := Noise{cells: slices.Clone(c.Noise.cells), directions: slices.Clone(c.Noise.directions)}
		spoil(&n)
		return n
	}

	broken := errors.New("broken")
	for name, release := range map[string]func() (Release, error){
		"zero noise":       func() (Release, error) { return Noise{}.Release(seeded(1), statistics()) },
		"zero calibration": func() (Release, error) { return Calibration{}.Release(statistics(1)) },
		"zero statistics":  func() (Release, error) { return c.Release(Statistics{}) },
		"too few":          func() (Release, error) { return c.Release(statistics(1)) },
		"too many":         func() (Release, error) { return c.Release(statistics(1, 2, 3)) },
		"nil value": func() (Release,
			error) {
			return c.Release(NewStatistics([]*big.Rat{big.NewRat(1, 1), nil}))
		},
		"no randomness": func() (Release, error) { return c.Noise.Release(bytes.NewReader(nil), statistics(1, 2)) },
		"constant":      func() (Release, error) { return c.Noise.Release(constant(0), statistics(1, 2)) },
		"failing":       func() (Release, error) { return c.Noise.Release(failing{broken}, statistics(1, 2)) },
		"a silent cell": func() (Release, error) {
			return quiet(func(n *Noise) { n.cells[1].sigma = 0 }).Release(seeded(1), statistics(1, 2))
		},
		"negative scale": func() (Release, error) {
			return quiet(func(n *Noise) { n.cells[1].sigma = -5 }).Release(seeded(1), statistics(1, 2))
		},
		"silent direction": func() (Release, error) {
			return quiet(func(n *Noise) { n.directions[0].scale = 0 }).Release(seeded(1), statistics(1, 2))
		},
		"unbounded laplace": func() (Release, error) {
			return quiet(func(n *Noise) { n.directions[0].scale = maxScale + 1 }).Release(seeded(1), statistics(1, 2))
		},
	} {
		if r, err := release(); err == nil || r.Len() != 0 {
			t.Errorf("%s: %v, %v", name, r, err)
		} else if name == "failing" && !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}

	if r, err := c.Release(statistics(1, 2)); err != nil || r.Len() != 2 || len(r.Values()) != 2 {
		t.Errorf("%v, %v", r, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestProductionReleasesDiffer(t *testing.T) {
	c := calibrated(t, Auto, counts(16, budget(1, 1e-6)))
	s := statistics(make([]float64, 16)...)
	a, err := c.Release(s)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Release(s)
	if err != nil || slices.Equal(a.Values(), b.Values()) {
		t.Errorf("%v twice: %v", a, err)
	}
}

func TestDecimalTexts(t *testing.T) {
	for _, test := range []struct {
		n                int64
		exponent, digits int
		want             string
	}{
		{0, 0, 0, "0"}, {0, -5, 3, "0.000"}, {7, 0, 2, "7.00"}, {7, 3, 0, "56"}, {-7, 3, 1, "-56.0"},
		{1, -1, 0, "0"}, {3, -1, 0, "2"}, {5, -1, 0, "2"}, {-1, -1, 0, "0"}, {-3, -1, 0, "-2"}, {-5, -1, 0, "-2"},
		{1, -3, 2, "0.12"}, {3, -3, 2, "0.38"}, {-1, -3, 2, "-0.12"}, {-1, -10, 2, "0.00"}, {-1, -6, 1, "0.0"},
		{1023, -10, 2, "1.00"}, {-1023, -10, 3, "-0.999"}, {12345, -4, 1, "771.6"},
	} {
		if got := decimal(big.NewInt(test.n), test.exponent, test.digits); got != test.want {
			t.Errorf("%d·2^%d to %d: %s, want %s", test.n, test.exponent, test.digits, got, test.want)
		}
	}

	rapid.Check(t, func(t *rapid.T) {
		n, e, d := rapid.Int64().Draw(t, "n"), rapid.IntRange(-80, 40).Draw(t, "e"), rapid.IntRange(0, 12).Draw(t, "d")
		text := decimal(big.NewInt(n), e, d)
		got, ok := new(big.Rat).SetString(text)
		if whole, places, dot := strings.Cut(text, "."); !ok || !decimalText.MatchString(text) || len(places) != d ||
			dot != (d > 0) || strings.HasPrefix(text, "-0") && got.Sign() == 0 || whole == "" {
			t.Fatalf("%q", text)
		}

		exact := new(big.Rat).SetInt64(n)
		if e < 0 {
			exact.Quo(exact, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(-e))))
		} else {
			exact.Mul(exact, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(e))))
		}

		half := new(big.Rat).SetFrac(big.NewInt(1),
			new(big.Int).Mul(big.NewInt(2), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d)), nil)))
		if got.Sub(got, exact).Abs(got).Cmp(half) > 0 {
			t.Fatalf("%d·2^%d: %s", n, e, text)
		}
	})
}

func TestToGridRoundsToNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := big.NewRat(rapid.Int64().Draw(t, "num"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "den"))
		e := rapid.IntRange(-70, 70).Draw(t, "e")
		back := new(big.Rat).SetInt(toGrid(v, e))
		unit := new(big.Rat).SetFloat64(step(e))
		back.Sub(back.Mul(back, unit), v)
		if back.Abs(back).Cmp(unit.Mul(unit, big.NewRat(1, 2))) > 0 {
			t.Fatalf("%v on 2^%d is off by %v", v, e, back)
		}
	})
}

// Two statistics that share a grid point publish the same text: nothing below the grid gets through.
func TestTextDoesNotDependOnTrailingPrecision(t *testing.T) {
	r := counts(2, budget(1, 1e-6))
	r.Components[0].Integer, r.Components[1] = false, Component{Lattice: 1e-3, Unit: .01}
	c := calibrated(t, ExpmGaussian, r)
	digits := wantedDigits(c)
	for seed := range byte(50) {
		plain, err := c.Noise.Release(seeded(seed), statistics(12, .5))
		if err != nil {
			t.Fatal(err)
		}
		less := step(c.Noise.cells[0].exponent) / 3
		fine, _ := c.Noise.Release(seeded(seed), NewStatistics([]*big.Rat{
			new(big.Rat).Add(big.NewRat(12, 1), new(big.Rat).SetFloat64(less)),
			new(big.Rat).Add(big.NewRat(1, 2), big.NewRat(1, 1<<60)),
		}))
		if !slices.Equal(plain.Values(), fine.Values()) {
			t.Errorf("%v and %v", plain, fine)
		}
		for k, text := range plain.Values() {
			if _, places, _ := strings.Cut(text, "."); len(places) != digits[k] {
				t.Errorf("component %d: %s", k, text)
			}
		}
	}
}

// wantedDigits returns the decimals that SD asks for.
func wantedDigits(c Calibration) []int {
	var d []int
	for _, sd := range c.SD {
		d = append(d, max(0, int(math.Ceil(2-math.Log10(sd)))))
	}
	return d
}

func TestReleaseRoundTrips(t *testing.T) {
	c := calibrated(t, Auto, counts(40, budget(1, 1e-6)))
	r, err := c.Release(statistics(make([]float64, 40)...))
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var back Release
	if err := back.UnmarshalBinary(b); err != nil || !slices.Equal(back.Values(), r.Values()) {
		t.Errorf("%v, %v", back, err)
	}
	values := r.Values()
	values[0] = "tampered"
	if r.Values()[0] == "tampered" {
		t.Error("Values shares memory with the release")
	}
	if _, err := (Release{}).MarshalBinary(); err == nil {
		t.Error("the empty release marshals")
	}
	for name, bad := range map[string][]byte{
		"empty":           nil,
		"version 0":       append([]byte{0}, b[1:]...),
		"version 2":       append([]byte{2}, b[1:]...),
		"cut":             b[:len(b)-1],
		"trailing":        append(slices.Clone(b), 0),
		"no values":       {1, 0},
		"huge count":      binary.AppendUvarint([]byte{1}, math.MaxUint64),
		"huge length":     binary.AppendUvarint([]byte{1, 1}, math.MaxUint64),
		"not a number":    {1, 1, 3, 'N', 'a', 'N'},
		"no digits":       {1, 1, 1, '-'},
		"empty text":      {1, 1, 0},
		"line break":      {1, 1, 2, '1', '\n'},
		"long way to one": {1, 0x81, 0, 1, '1'},
	} {
		kept := Release{values: []string{"1"}}
		if err := kept.UnmarshalBinary(bad); err == nil || kept.Len() != 1 {
			t.Errorf("%s: accepted as %v", name, kept)
		}
	}
}

func FuzzReleaseUnmarshalBinary(f *testing.F) {
	f.Add([]byte{1, 2, 1, '7', 5, '-', '1', '.', '2', '5'})
	f.Add([]byte{1, 0x81, 0, 1, '1'})
	f.Add([]byte{2, 1, 1, '1'})
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Release
		if r.UnmarshalBinary(data) != nil {
			return
		}
		for _, v := range r.Values() {
			if _, ok := new(big.Rat).SetString(v); !ok {
				t.Errorf("value %q", v)
			}
		}
		if again, err := r.MarshalBinary(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%x became %x, %v", data, again, err)
		}
	})
}

func BenchmarkRelease(b *testing.B) {
	for _, m := range []int{1, 16, 1000} {
		c := calibrated(b, Directional, counts(m, budget(1, 1e-6)))
		s := statistics(make([]float64, m)...)
		b.Run(fmt.Sprint(m), func(b *testing.B) {
			for b.Loop() {
				if _, err := c.Release(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
