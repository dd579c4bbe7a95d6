package policy

import (
	"math"
	"time"

	"fugu/internal/strictyaml"
)

const domainHint = "write a list of values, the word reference, {from: 0, to: 9}, or {from: 2023-01-01, to: " +
	"2024-12-31, by: month}"

// domain reads the values of a column by which statements may group.
func domain(e strictyaml.Entry) Domain {
	d := Domain{At: e.At}
	v := e.Value
	switch v.Kind {
	case strictyaml.List:
		d.Values = domainValues(v)
	case strictyaml.Map:
		f := v.Fields(keys["tables.*.group_by.*"]...)
		if f.Get("by") != nil {
			d.Dates = dates(v, f)
			break
		}

		// Without a unit it is a range of integers. The difference is taken unsigned, since it can exceed an int64.
		from, okFrom := f.Need("from", domainHint).Int(math.MinInt64, math.MaxInt64)
		to, okTo := f.Need("to", domainHint).Int(math.MinInt64, math.MaxInt64)
		switch {
		case !okFrom || !okTo:
		case from > to:
			f.Get("from").Bad("write the smaller number first", "%s: from %d is above to %d", v.Path, from, to)
		case uint64(to)-uint64(from) >= MaxRange:
			f.Get("to").Bad("group by something coarser", "%s: from %d to %d are more than %d values", v.Path, from, to,
				MaxRange)
		default:
			d.Range = &IntRange{From: from, To: to}
		}
	default:
		d.FromReference = v.Is("reference")
		if !d.FromReference {
			v.Bad(domainHint, "%s must be a list, a range or the word reference", v.Path)
		}
	}
	return d
}

// dates reads a range of days.
func dates(v *strictyaml.Value, f strictyaml.Fields) *DateRange {
	by, okBy := f.Get("by").Word(words["tables.*.group_by.*.by"]...)
	day := func(key string) (time.Time, bool) {
		end := f.Need(key, domainHint)
		text, ok := end.Text()
		if !ok {
			return time.Time{}, false
		}
		t, err := time.Parse(time.DateOnly, text)
		if err != nil || t.Year() < 1 {
			end.Bad("write a day as 2024-12-31", "%s: %q is no day of the years 1 to 9999", v.Path, text)
			return time.Time{}, false
		}
		return t, true
	}

	// A range that is the wrong way round, or too long, would have no values or too many.
	from, okFrom := day("from")
	to, okTo := day("to")
	switch {
	case !okBy || !okFrom || !okTo:
	case from.After(to):
		f.Get("from").Bad("write the earlier day first", "%s: from %s is behind to %s", v.Path,
			from.Format(time.DateOnly), to.Format(time.DateOnly))
	case to.Sub(from) >= MaxRange*24*time.Hour:
		f.Get("to").Bad("declare a shorter time", "%s: from %s to %s are more than %d days", v.Path,
			from.Format(time.DateOnly), to.Format(time.DateOnly), MaxRange)
	default:
		return &DateRange{From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), By: Unit(by)}
	}
	return nil
}

// domainValues reads a list of values, which may hold NULL.
func domainValues(v *strictyaml.Value) []Value {
	items, _ := v.List()
	switch {
	case len(items) == 0:
		v.Bad(domainHint, "%s is empty", v.Path)
	case len(items) > MaxRange:
		v.Bad("group by something coarser", "%s has more than %d values", v.Path, MaxRange)
	}

	// A value that is listed twice would be two groups of the same rows.
	var values []Value
	seen := map[Value]bool{}

	for _, item := range items {
		text, null, ok := item.Scalar()
		value := Value{Text: text, IsNull: null}
		switch {
		case !ok:
		case seen[value]:
			item.Bad("keep one of the two", "%s lists %s twice", v.Path, value)
		default:
			seen[value] = true
			values = append(values, value)
		}
	}
	return values
}
