//go:build !byday

package main

import (
	"fmt"
	"math"

	"fugu/policy"
	"fugu/test/choosing/shop"
)

// guesses is how often who sees everything may guess right which of two values a secret has, beforehand equally
// probable: e^ε/(1+e^ε).
func guesses() ([]byte, error) {
	p := picture("What ε allows", "ε", "guesses that are right, in %")
	p.Y.Min, p.Y.Max = 50, 100
	return draw(p, curve{"at most, whatever is asked", evenly(0, 5, func(e float64) (float64, error) {
		return 100 / (1 + math.Exp(-e)), nil
	})})
}

// errors is how far counts of a twin are off by ε, for three ranges of the share.
func errors() ([]byte, error) {
	p := picture("A twin, by ε and the range of the share", "ε", "error of a count of 2,700 rows, in %")
	logarithmic(&p.X)
	var curves []curve
	for _, span := range []policy.Span{
		{From: .02, To: .60, Within: .02}, shop.Usual, {From: .15, To: .30, Within: .02},
	} {
		curves = append(curves, curve{fmt.Sprintf("from %g to %g", span.From, span.To),
			growing(.2, 5, func(epsilon float64) (float64, error) {
				off, err := shop.ByTwin(span, epsilon, 1)
				return 100 * off, err
			})})
	}
	return draw(p, curves...)
}

// ranges is how far counts of a twin are off by how wide the range is, around the true share of .21.
func ranges() ([]byte, error) {
	p := picture("A twin at ε = 1, by the width of the range", "to - from, with .21 in the middle",
		"error of a count of 2,700 rows, in %")
	var curves []curve
	for _, within := range []float64{.05, .02, .01} {
		curves = append(curves, curve{fmt.Sprintf("within %g", within),
			evenly(.06, .40, func(width float64) (float64, error) {
				off, err := shop.ByTwin(policy.Span{From: .21 - width/2, To: .21 + width/2, Within: within}, 1, 1)
				return 100 * off, err
			})})
	}
	return draw(p, curves...)
}

// lifts are the groups of the pictures that compare: what the secret has to do with them decides about noise.
var lifts = []struct {
	name string
	lift float64
}{
	{"the secret makes the group twice as frequent", 2},
	{"the secret makes it 1.2 times as frequent", 1.2},
}

// closeness is how far counts are off by within: one of the twin, and one with noise that has ε for itself.
func closeness() ([]byte, error) {
	p := picture("One statement at ε = 1, by within", "within", "error of a count of 2,700 rows, in %")
	logarithmic(&p.X)
	logarithmic(&p.Y)
	var curves []curve
	for _, l := range lifts {
		curves = append(curves, curve{"twin: " + l.name, growing(.005, .1, func(within float64) (float64, error) {
			off, err := shop.ByTwin(policy.Span{From: shop.Usual.From, To: shop.Usual.To, Within: within}, 1, l.lift)
			return 100 * off, err
		})}, curve{"noise: " + l.name, growing(.005, .1, func(within float64) (float64, error) {
			return 100 * shop.ByNoise(within, 1, 1, l.lift), nil
		})})
	}
	return draw(p, curves...)
}

// statements is how far counts are off by how many statements share ε: a twin is paid once.
func statements() ([]byte, error) {
	p := picture("Twin or noise: ε = 1 for all statements together", "statements",
		"error of a count of 2,700 rows, in %")
	logarithmic(&p.X)
	logarithmic(&p.Y)
	var curves []curve
	for _, l := range lifts {
		off, err := shop.ByTwin(shop.Usual, 1, l.lift)
		if err != nil {
			return nil, err
		}
		curves = append(curves,
			curve{"twin: " + l.name, growing(1, 1000, func(float64) (float64, error) { return 100 * off, nil })},
			curve{"noise: " + l.name, growing(1, 1000, func(asked float64) (float64, error) {
				return 100 * shop.ByNoise(shop.Usual.Within, 1, asked, l.lift), nil
			})})
	}
	return draw(p, curves...)
}
