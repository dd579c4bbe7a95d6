package lex

import (
	"strings"
	"unicode/utf8"

	"fugu/sqlstate"
)

// Fugu's parser and the server have to read a text alike, so two settings of a session are pinned. Statements that set
// one of them by its name to another value are refused, which is an error like any other. What does so in a way that
// cannot be seen here, a function say, is found when the server reports it, and ends the session (parameterStatus in
// package wire).

// pinWords are the names by which a text can set a pinned setting. SET NAMES sets client_encoding.
var pinWords = NewWords(PinNames()...)

// PinNames are the words that can name a pinned setting: a text without any of them sets none by its name.
func PinNames() []string { return []string{"client_encoding", "standard_conforming_strings", "names"} }

// CheckPins refuses a text with a statement that sets a pinned setting to another value.
func CheckPins(sql string) error {
	if !pinWords.In(sql) {
		return nil
	}
	begins, setting := true, false // a statement begins here; it is SET, and its name comes
	for s := (scanner{rest: sql}); ; {
		w, kind := s.next()
		switch {
		case kind == noToken, kind == awkwardToken:
			return nil
		case kind == endOfStatement:
			begins, setting = true, false
			continue
		}

		// An error has to point at the setting's name.
		at := len(sql) - len(s.rest) - len(w.text) // of w, in bytes
		if w.quoted {
			at -= len(`""`)
		}
		name, value, known := "", "", false
		switch {
		case setting && !w.quoted && (w.is("local") || w.is("session")):
			continue
		case setting && strings.HasPrefix(s.rest, "."): // a setting of the client's own
		case setting && !w.quoted && w.is("names"):
			name = "client_encoding"
			value, known = s.literal()
		case setting:
			name = w.text
			value, known = s.assigned()
		case w.is("set_config"):
			name, value, known = s.configured()
		}
		if want, ok := pins[strings.ToLower(name)]; ok && !(known && want.has(value)) {
			return sqlstate.New(sqlstate.FeatureNotSupported, "%s must be %s in a session through Fugu",
				strings.ToLower(name), want.value).
				WithHint("Leave the setting as it is.").At(utf8.RuneCountInString(sql[:at]) + 1)
		}
		begins, setting = false, begins && !w.quoted && w.is("set")
	}
}

// pin is the value that a setting has to keep.
type pin struct {
	value string
	has   func(string) bool // whether another spelling means it
}

var pins = map[string]pin{
	"client_encoding": {"UTF8", func(v string) bool {
		// PostgreSQL passes over everything but letters and digits in the name of an encoding.
		clean := strings.Map(func(r rune) rune {
			if r >= 0x80 || class[r] != letter && class[r] != digit || r == '_' {
				return -1
			}
			return r
		}, strings.ToLower(v))
		return clean == "utf8" || clean == "unicode" || clean == "default"
	}},
	"standard_conforming_strings": {"on", func(v string) bool {
		v = strings.ToLower(v)
		return v == "1" || v == "default" || v != "" && (strings.HasPrefix("true", v) || strings.HasPrefix("yes", v)) ||
			v == "on"
	}},
}

// assigned reads what stands behind a setting's name in SET.
func (s *scanner) assigned() (value string, known bool) {
	s.space()
	if strings.HasPrefix(s.rest, "=") {
		s.rest = s.rest[1:]
		return s.literal()
	}
	switch w, _ := s.next(); {
	case w.is("to"):
		return s.literal()
	case w.is("from"): // FROM CURRENT
		return "default", true
	}
	return "", false
}

// configured reads the arguments of set_config, in order or by their names. A name that is no literal is not known.
func (s *scanner) configured() (name, value string, known bool) {
	if s.space(); !strings.HasPrefix(s.rest, "(") {
		return "", "", false
	}
	s.rest = s.rest[1:]
	if name, known = s.argument(); !known {
		return "", "", false
	}
	comma := strings.IndexByte(s.rest, ',') // behind a cast, if there is one
	if comma < 0 {
		return name, "", false
	}
	s.rest = s.rest[comma+1:]
	value, known = s.argument()
	return name, value, known
}

// argument reads a literal that may have the argument's name in front.
func (s *scanner) argument() (string, bool) {
	v, known := s.literal()
	for _, arrow := range []string{"=>", ":="} {
		if strings.HasPrefix(s.rest, arrow) {
			s.rest = s.rest[len(arrow):]
			return s.literal()
		}
	}
	return v, known
}

// literal reads a string, a word or a number, and the space behind it. Nothing at all stands for DEFAULT. What has
// escapes or goes on behind a line's end is not known.
func (s *scanner) literal() (text string, known bool) {
	s.space()
	if s.rest == "" || s.rest[0] == ';' {
		return "default", true
	}

	whole, quote := s.rest, s.rest[0]
	switch {
	case quote == '\'' || quote == '"':
		if !s.quoted(quote, noEscapes) {
			return "", false
		}
		text = whole[1 : len(whole)-len(s.rest)-1]
	case class[quote] == letter || class[quote] == digit:
		text = s.identifier()
	default:
		return "", false
	}

	// A string that another one continues, and a word that is the U of U&'...', are not what they look like.
	touched := s.rest
	s.space()
	return text, !strings.HasPrefix(s.rest, "'") && !strings.HasPrefix(touched, "&")
}

// space passes over white space and comments.
func (s *scanner) space() {
	for {
		s.rest = strings.TrimLeft(s.rest, " \t\n\v\f\r")
		switch {
		case strings.HasPrefix(s.rest, "--"):
			s.skip(strings.IndexAny(s.rest, "\n\r"))
		case strings.HasPrefix(s.rest, "/*"):
			if !s.comment() {
				s.rest = ""
			}
		default:
			return
		}
	}
}
