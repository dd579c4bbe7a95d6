// Package tree walks the trees that PostgreSQL's grammar makes of statements (pg_query_go), and compares them with
// text. It knows how the structures are laid out, and nothing of what they mean to Fugu.
package tree
