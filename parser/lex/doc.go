// Package lex looks at the words of a text before anybody parses it: whether it holds a name that matters, whether it
// may leave something behind in the session, whether it changes a setting that Fugu depends on.
//
// Most texts are none of Fugu's business. To find that out must cost almost nothing, so everything here is one pass
// over bytes that allocates nothing, in the steps of PostgreSQL's scan.l. It errs to one side: a text that is not
// understood holds the name, and lasts. What is decided is then the parser's, or the server's own, to confirm.
package lex
