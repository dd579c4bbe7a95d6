package strictyaml

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"fugu/internal/nearest"
)

// Kind is what a value is.
type Kind int

// The kinds of values.
const (
	Empty     Kind = iota // nothing was written
	Null                  // null or ~
	Bool                  // true or false
	Int                   // a decimal whole number of any size
	Float                 // a decimal number, .inf or .nan
	String                // text
	Ambiguous             // readers of YAML do not agree on what it is: 017, 0x11, 1_000, True
	List
	Map
)

var kindNames = [...]string{"nothing", "null", "true or false", "a whole number", "a number", "text",
	"an ambiguous value",
	"a list", "a section"}

// String is what a finding calls a value of the kind.
func (k Kind) String() string { return kindNames[k] }

// Value is one value of the file. The methods that read it report what does not fit and then return false. On a nil
// Value, which stands for a key that is not there, they return false and report nothing.
type Value struct {
	report   *Report
	reported bool // what is wrong with it is already in the report

	Path    string   // dotted keys from the top, for messages
	At      Position // where the value begins
	TextAt  Position // where its text begins: behind an opening quote or the header of a block
	Kind    Kind
	Quoted  bool // in quotes, or a block
	text    string
	items   []*Value
	entries []Entry
}

// Entry is one key of a mapping with its value.
type Entry struct {
	Key    string
	Quoted bool
	At     Position
	Value  *Value
}

// Bad reports that the value does not fit.
func (v *Value) Bad(hint, format string, args ...any) {
	if v != nil && !v.reported {
		v.report.Add(v.At, hint, format, args...)
	}
}

func (v *Value) expected(what, hint string) {
	switch v.Kind {
	case Empty:
		v.Bad(hint, "%s is left empty", v.name())
	case Ambiguous:
		v.Bad("put it in quotes if it is text, or write a plain decimal number or true or false",
			"%s: YAML readers do not agree on what %s is", v.name(), v.quoted())
	default:
		v.Bad(hint, "%s must be %s, not %s", v.name(), what, v.shown())
	}
}

func (v *Value) name() string {
	if v.Path == "" {
		return "the file"
	}
	return v.Path
}

func (v *Value) shown() string {
	switch {
	case v.report.Withhold:
		return v.Kind.String()
	case v.Kind == String:
		return "the text " + quote(v.text)
	case v.Kind == Int, v.Kind == Float, v.Kind == Bool:
		return shorten(v.text)
	}
	return v.Kind.String()
}

func (v *Value) quoted() string {
	if v.report.Withhold {
		return "this"
	}
	return quote(v.text)
}

// Text reads text that is not blank.
func (v *Value) Text() (string, bool) {
	if v == nil {
		return "", false
	}
	switch {
	case v.Kind != String && v.Kind != Map && v.Kind != List && v.text != "":
		v.expected("text", "put it in quotes")
	case v.Kind != String:
		v.expected("text", "")
	case strings.TrimSpace(v.text) == "":
		v.Bad("", "%s is blank", v.name())
	case strings.ContainsRune(v.text, 0):
		v.Bad("", "%s has a NUL character", v.name())
	default:
		return v.text, true
	}
	return "", false
}

// Is reports whether the value is that text; it reports no finding.
func (v *Value) Is(text string) bool { return v != nil && v.Kind == String && v.text == text }

// Word reads one of the words.
func (v *Value) Word(words ...string) (string, bool) {
	if v == nil {
		return "", false
	}
	if v.Kind == String && slices.Contains(words, v.text) {
		return v.text, true
	}
	v.expected("one of "+strings.Join(words, ", "), "write "+strings.Join(words, " or "))
	return "", false
}

// Bool reads true or false.
func (v *Value) Bool() (value, ok bool) {
	switch {
	case v == nil:
		return false, false
	case v.Kind != Bool:
		v.expected("true or false", "write true or false without quotes")
		return false, false
	}
	return v.text == "true", true
}

// Int reads a whole number between low and high, both included.
func (v *Value) Int(low, high int64) (int64, bool) {
	if v == nil {
		return 0, false
	}
	if v.Kind != Int {
		v.expected("a whole number", "write it as decimal digits without quotes")
		return 0, false
	}
	i, err := strconv.ParseInt(v.text, 10, 64)
	switch {
	case low == high && (err != nil || i != low):
		v.Bad(fmt.Sprintf("write %d", low), "%s %s is not known", v.name(), shorten(v.text))
	case err != nil || i < low || i > high:
		v.Bad("", "%s must be a whole number between %d and %d, not %s", v.name(), low, high, shorten(v.text))
	default:
		return i, true
	}
	return 0, false
}

// Float reads a number; it may be infinite or NaN, which is for the caller to refuse.
func (v *Value) Float() (float64, bool) {
	if v == nil {
		return 0, false
	}
	if v.Kind != Int && v.Kind != Float {
		v.expected("a number", "write it as a decimal number without quotes")
		return 0, false
	}
	return parseFloat(v.text), true
}

func parseFloat(text string) float64 {
	switch strings.ToLower(strings.TrimLeft(text, "+-")) {
	case ".nan":
		return math.NaN()
	case ".inf":
		if text[0] == '-' {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	f, _ := strconv.ParseFloat(text, 64) // the pattern holds, so the only error is of range, and then f is ±Inf
	return f
}

// maxDigits is the number of significant decimal digits that survive float64.
const maxDigits = 15

// Scalar reads text, a finite number, true, false or null. The text it returns is canonical: 1.50, 1.5 and 15e-1 give
// 1.5, +7 gives 7. A number of more digits than float64 holds must be quoted unless it is whole.
func (v *Value) Scalar() (text string, null, ok bool) {
	if v == nil {
		return "", false, false
	}

	// Each kind has one text, whichever way it was written: by it values are compared, and bound to statements.
	switch v.Kind {
	case Null:
		return "", true, true
	case Bool:
		return v.text, false, true
	case String:
		if strings.ContainsRune(v.text, 0) {
			v.Bad("", "%s has a NUL character", v.name())
			return "", false, false
		}
		return v.text, false, true
	case Int:
		if text := strings.TrimPrefix(v.text, "+"); text != "-0" {
			return text, false, true
		}
		return "0", false, true
	case Float:
		f := parseFloat(v.text)
		// Where a float64 does not hold all that was written, its text would be that of another number.
		mantissa, _, _ := strings.Cut(strings.ToLower(v.text), "e")
		digits := strings.Trim(strings.ReplaceAll(strings.TrimLeft(mantissa, "+-"), ".", ""), "0")
		if math.IsNaN(f) || math.IsInf(f, 0) || len(digits) > maxDigits || f == 0 && digits != "" ||
			math.Abs(f) >= 1e16 {
			v.Bad("put it in quotes, in the form that PostgreSQL prints",
				"%s: the number %s has no certain text form", v.name(), shorten(v.text))
			return "", false, false
		}
		return strconv.FormatFloat(f+0, 'f', -1, 64), false, true
	}

	v.expected("text, a number, true, false or null", "write null for the SQL null, or '' for the empty text")
	return "", false, false
}

// List reads a list.
func (v *Value) List() ([]*Value, bool) {
	if v == nil {
		return nil, false
	}
	if v.Kind != List {
		v.expected("a list", "write [a, b] or one '- a' on each line")
		return nil, false
	}
	return v.items, true
}

// Entries reads a mapping whose keys are names of the writer's choice.
func (v *Value) Entries() ([]Entry, bool) {
	if v == nil {
		return nil, false
	}
	if v.Kind != Map {
		v.expected("a section of keys and values", "")
		return nil, false
	}
	return v.entries, true
}

// Fields reads a mapping whose keys are known, and reports each key that is not. The Fields of a value that is no
// mapping are empty.
func (v *Value) Fields(known ...string) Fields {
	entries, ok := v.Entries()
	f := Fields{section: v, ok: ok}
	for _, e := range entries {
		if slices.Contains(known, e.Key) {
			f.entries = append(f.entries, e)
		} else {
			f.unknown = append(f.unknown, e.Key)
			v.report.Add(e.At, v.report.knownHere(e.Key, known), "unknown key%s", v.report.key(e.Key))
		}
	}
	return f
}

// knownHere says which keys there are, and first which one was meant.
func (r *Report) knownHere(key string, known []string) string {
	hint := "known here: " + strings.Join(known, ", ")
	if meant := nearest.Of(key, known); meant != "" && r.key(key) != "" {
		hint = "write " + meant + "; " + hint
	}
	return hint
}

// Fields is a mapping with known keys.
type Fields struct {
	section *Value
	entries []Entry
	unknown []string // keys that have been reported
	ok      bool
}

// Misspelt reports whether a key that is not there stands there in other letters, which has been reported.
func (f Fields) Misspelt(key string) bool {
	return f.Get(key) == nil &&
		slices.ContainsFunc(f.unknown, func(other string) bool { return nearest.Of(other, []string{key}) != "" })
}

// Get returns the value of a key, nil if it is not there.
func (f Fields) Get(key string) *Value {
	for _, e := range f.entries {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// Need is Get for a key that must be there. One that is misspelt is not missing besides.
func (f Fields) Need(key, hint string) *Value {
	v := f.Get(key)
	if v == nil && f.ok && !f.Misspelt(key) {
		f.Missing(join(f.section.Path, key), hint)
	}
	return v
}

// Missing reports that something is not in the section; nothing if the section itself is already reported.
func (f Fields) Missing(path, hint string) {
	if f.ok {
		f.section.report.Add(f.section.At, hint, "%s is missing", path)
	}
}

func join(section, key string) string {
	if section == "" {
		return key
	}
	return section + "." + key
}

var keyPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,30}$`)

// key is a space and the key in quotes, or nothing.
func (r *Report) key(key string) string {
	if r.Withhold && !keyPattern.MatchString(key) {
		return ""
	}
	return " " + quote(key)
}

func quote(text string) string { return strconv.Quote(shorten(text)) }

func shorten(text string) string {
	const most = 60
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
