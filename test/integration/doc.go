// Package integration holds the tests of Fugu as a whole: a real PostgreSQL, real clients, and everything between.
package integration
