package lex

import "strings"

// MaxBytes is the length of the longest text that Fugu reads.
const MaxBytes = 1 << 20

// QuoteIdent writes a name so that PostgreSQL reads it as it is.
func QuoteIdent(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
