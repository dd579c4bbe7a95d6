package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"fugu/planner"
	"fugu/sqlstate"
)

func plus(dst, src []float64) {
	for i, v := range src {
		dst[i] += v
	}
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

func scaled(v []float64, by float64) []float64 {
	out := slices.Clone(v)
	scale(out, by)
	return out
}

func sumOf(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}

// ordinal numbers keys from 0 in the order in which they come.
func ordinal[K comparable](seen map[K]int, key K) int {
	n, ok := seen[key]
	if !ok {
		n = len(seen)
		seen[key] = n
	}
	return n
}

func number(v planner.Value) (float64, error) {
	if v.Null {
		return 0, fmt.Errorf("a moment is NULL")
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, sqlstate.New(sqlstate.ModelUnfit, "the reference has values that are not finite numbers")
	}
	return f, nil
}
