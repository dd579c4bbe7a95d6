package console

import (
	"maps"
	"slices"
	"time"

	"fugu/admin"
)

// Bars are counts, each with a bar beside its number.
type Bars struct {
	Title string
	Rows  []Bar
}

// Bar is one count.
type Bar struct {
	Name  string
	Count int64
	Share int // of the greatest, in thousandths: how long the bar is
}

// bars measures counts by the greatest.
func bars(title string, rows []Bar) Bars {
	most := int64(1)
	for _, r := range rows {
		most = max(most, r.Count)
	}
	for i := range rows {
		rows[i].Share = int(1000 * rows[i].Count / most)
	}
	return Bars{title, rows}
}

// counted are counts in the order of their names.
func counted(title string, counts map[string]int64) Bars {
	var rows []Bar
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		rows = append(rows, Bar{Name: name, Count: counts[name]})
	}
	return bars(title, rows)
}

// waited is how long statements about protected rows took to be bound, as clients could have measured it.
func waited(waits []admin.Wait) Bars {
	var rows []Bar
	var last time.Duration
	for i, w := range waits {
		name := "up to " + lasting(w.UpTo)
		if i == len(waits)-1 {
			name = "above " + lasting(last)
		}
		rows, last = append(rows, Bar{Name: name, Count: int64(w.Count)}), w.UpTo
	}
	return bars("How long statements about protected rows waited", rows)
}

// lasting writes a time in one unit.
func lasting(d time.Duration) string {
	if d < time.Second {
		return short(float64(d)/float64(time.Millisecond)) + " ms"
	}
	return short(d.Seconds()) + " s"
}
