package row

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// canonical gives the one text of a value of the type, if text is a form of it that needs no help of PostgreSQL's to
// read: other forms are read by PostgreSQL itself. Equal values of one type get equal texts either way.
func canonical(oid uint32, s string) (string, bool) {
	switch classes[oid] {
	case text:
		if oid == oidName || strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
			return "", false
		}
		return s, true
	case integer:
		bits := map[uint32]int{oidInt2: 16, oidInt4: 32, oidInt8: 64}[oid]
		n, err := strconv.ParseInt(s, 10, bits)
		return strconv.FormatInt(n, 10), err == nil
	case numeric:
		if !plainDecimal.MatchString(s) {
			return "", false
		}
		return tidy(s), true
	case double:
		if !plainDecimal.MatchString(s) {
			return "", false
		}
		f, err := strconv.ParseFloat(s, 64)
		return formatFloat(f), err == nil && (f == 0 || math.Abs(f) > 1e-300)
	case boolean:
		v, ok := map[string]string{"t": "true", "true": "true", "f": "false", "false": "false"}[s]
		return v, ok
	case date:
		_, ok := day(s)
		return s, ok
	case timestamp, timestamptz:
		zone := ""
		if oid == oidTimestamptz {
			zone = "+00"
		}
		s = strings.TrimSuffix(s, zone)
		if _, ok := day(s); ok {
			return s + " 00:00:00" + zone, true
		}
		if _, err := time.Parse(time.DateTime, s); err == nil && s[0] != '0' && len(s) == len(time.DateTime) {
			return s + zone, true
		}
	}
	return "", false
}

var plainDecimal = regexp.MustCompile(`^[-+]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})$`)

// expand writes a decimal without its exponent, as PostgreSQL does.
func expand(s string) string {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(s), "e")
	e, err := strconv.Atoi(exponent)
	if !ok || err != nil || e > 30 || e < -30 || !plainDecimal.MatchString(mantissa) {
		return s
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if e >= 0 {
		fraction += strings.Repeat("0", max(0, e-len(fraction)))
		whole, fraction = whole+fraction[:e], fraction[e:]
	} else {
		whole = strings.Repeat("0", max(0, -e-len(whole)+1)) + whole
		whole, fraction = whole[:len(whole)+e], whole[len(whole)+e:]+fraction
	}
	return strings.TrimSuffix(whole+"."+fraction, ".")
}

// tidy drops sign and zeros that say nothing; the zeros at the end say how many digits to show.
func tidy(s string) string {
	if !plainDecimal.MatchString(s) {
		return s
	}
	sign := ""
	if s[0] == '-' {
		sign = "-"
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(s, "+-"), ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if whole == "0" && strings.Trim(fraction, "0") == "" {
		sign = ""
	}
	if fraction != "" {
		return sign + whole + "." + fraction
	}
	return sign + whole
}

// canonicalNumeric drops the zeros at the end, too: to compare with, all scales are the same.
func canonicalNumeric(s string) string {
	s = tidy(s)
	if plainDecimal.MatchString(s) && strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// day reads a date of the years 1000 to 9999 in ISO form.
func day(s string) (time.Time, bool) {
	d, err := time.Parse(time.DateOnly, s)
	return d, err == nil && s[0] != '0'
}

// arrayElements reads a one-dimensional array (manual, section 8.15.6).
func arrayElements(s string) ([]Value, bool) {
	if len(s) < 2 || s[0] != '{' || s[len(s)-1] != '}' {
		return nil, false
	}

	// The braces are left off. Nothing between them is an array without elements.
	s = s[1 : len(s)-1]
	if strings.TrimSpace(s) == "" {
		return nil, true
	}

	var out []Value
	for {
		v, rest, ok := arrayElement(s)
		if !ok {
			return nil, false
		}
		out = append(out, v)
		if rest == "" {
			return out, true
		}
		s = rest[1:]
	}
}

// arrayElement reads the first element, and returns what comes after it: nothing, or a comma and the others.
func arrayElement(s string) (v Value, rest string, ok bool) {
	s = strings.TrimLeft(s, arraySpace)
	var b strings.Builder
	quoted := strings.HasPrefix(s, `"`)
	if quoted {
		s = s[1:]
	}
	for ended := false; !ended; {
		switch {
		case s == "" && quoted:
			return v, "", false
		case s == "" || s[0] == ',' && !quoted:
			ended = true
		case s[0] == '\\':
			if len(s) < 2 {
				return v, "", false
			}
			b.WriteByte(s[1])
			s = s[2:]
		case s[0] == '"' && quoted:
			s = strings.TrimLeft(s[1:], arraySpace)
			if s != "" && s[0] != ',' {
				return v, "", false
			}
			ended = true
		case !quoted && strings.IndexByte(`{}"`, s[0]) >= 0:
			return v, "", false
		default:
			b.WriteByte(s[0])
			s = s[1:]
		}
	}

	// Without quotes blanks do not count, nothing is no element, and NULL is the null.
	v = Value{Text: b.String()}
	if !quoted {
		v.Text = strings.TrimRight(v.Text, arraySpace)
		if strings.EqualFold(v.Text, "NULL") {
			return Value{Null: true}, s, true
		}
	}
	return v, s, quoted || v.Text != ""
}

const arraySpace = " \t\n\r\v\f"
