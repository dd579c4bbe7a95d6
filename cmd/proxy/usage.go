package main

import (
	"errors"
	"flag"
	"io"
	"strings"
)

// usageError is a mistake on the command line.
type usageError struct{ error }

// flags parses a command's flags; every command that reads a configuration has -c.
func flags(name string, args []string, stderr io.Writer, define func(*flag.FlagSet)) (*flag.FlagSet, string, error) {
	path := "fugu.yaml"
	fs, err := flagsAlone(name, args, stderr, func(fs *flag.FlagSet) {
		fs.StringVar(&path, "c", path, "configuration `file`")
		if define != nil {
			define(fs)
		}
	})
	return fs, path, err
}

// flagsAlone parses the flags of a command that reads none.
func flagsAlone(name string, args []string, stderr io.Writer, define func(*flag.FlagSet)) (*flag.FlagSet, error) {
	fs := flag.NewFlagSet("fugu "+name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	if define != nil {
		define(fs)
	}
	if l, ok := stderr.(*flagList); ok {
		l.FlagSet = fs
		return nil, flag.ErrHelp
	}
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, usageError{err}
	}
	return fs, nil
}

// flagList is where a command that is run to list its flags puts them, in the place of doing anything.
type flagList struct {
	io.Writer
	*flag.FlagSet
}

type stringList []string

func (l *stringList) String() string { return strings.Join(*l, ",") }

func (l *stringList) Set(s string) error { *l = append(*l, s); return nil }
