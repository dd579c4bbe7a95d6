package console

import (
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
)

// words are what templates say things with.
var words = template.FuncMap{"short": short, "clock": clock, "day": day, "add": func(a, b int) int { return a + b },
	"percent": func(part, whole float64) int { return int(math.Max(0, math.Min(1000, 1000*part/whole))) },
	"grouped": grouped, "code": func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }}

// short writes a number with three digits that count, and no exponent where it can be read without one.
func short(v float64) string {
	switch size := math.Abs(v); {
	case math.IsInf(v, 0) || math.IsNaN(v):
		return "∞"
	case v == 0:
		return "0"
	case size >= 1e7 || size < 1e-3:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case size >= 1000:
		return grouped(int64(math.Round(v)))
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// grouped writes a number with a narrow space between thousands.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	start := len(text) % 3
	sign := ""
	if n < 0 {
		sign, text = "−", text[1:]
		start = len(text) % 3
	}
	var parts []string
	if start > 0 {
		parts = append(parts, text[:start])
	}
	for i := start; i < len(text); i += 3 {
		parts = append(parts, text[i:i+3])
	}
	return sign + strings.Join(parts, "\u202f")
}

// several writes how many there are of a thing.
func several(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }

// slug is a name as an identifier of HTML.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}
