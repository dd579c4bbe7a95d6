package main

import (
	"errors"
	"flag"
	"io"
	"strings"
)

// usageError is a mistake on the command line.
type usageError struct{ error }

// flags parses a command's flags; every command has -c.
func flags(name string, args []string, stderr io.Writer, define func(*flag.FlagSet)) (*flag.FlagSet, string, error) {
	fs := flag.NewFlagSet("fugu "+name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	path := fs.String("c", "fugu.yaml", "configuration `file`")
	if define != nil {
		define(fs)
	}
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, "", err
		}
		return nil, "", usageError{err}
	}
	return fs, *path, nil
}

type stringList []string

func (l *stringList) String() string { return strings.Join(*l, ",") }

func (l *stringList) Set(s string) error { *l = append(*l, s); return nil }
