package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"fugu/internal/nearest"
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
	if define != nil {
		define(fs)
	}
	if l, ok := stderr.(*flagList); ok {
		l.FlagSet = fs
		return nil, flag.ErrHelp
	}
	if err := parse(fs, args, stderr); err != nil {
		return nil, err
	}
	return fs, nil
}

// parse reads flags. Whoever asks for it is shown all of them; who has made a mistake is told which, and no more.
func parse(fs *flag.FlagSet, args []string, stderr io.Writer) error {
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, flag.ErrHelp):
		fs.SetOutput(stderr)
		fs.Usage()
		return err
	}

	// The flag that was meant is likely one with almost the same name.
	unknown, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return usageError{fmt.Errorf("%w (%s -h says what there is)", err, fs.Name())}
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	if meant := nearest.Of(unknown, known); meant != "" {
		return usageError{fmt.Errorf("there is no flag -%s: write -%s", unknown, meant)}
	}
	return usageError{fmt.Errorf("there is no flag -%s: %s -h lists all", unknown, fs.Name())}
}

// noArguments refuses what stands behind the flags of a command that reads flags alone.
func noArguments(fs *flag.FlagSet) error {
	if fs.NArg() == 0 {
		return nil
	}
	if strings.HasSuffix(fs.Arg(0), ".yaml") {
		return usageError{fmt.Errorf("write -c before the configuration: %s -c %s", fs.Name(), fs.Arg(0))}
	}
	return usageError{fmt.Errorf("leave out %q: %s takes flags alone, which %[2]s -h lists", fs.Arg(0), fs.Name())}
}

// flagList is where a command that is run to list its flags puts them, in the place of doing anything.
type flagList struct {
	io.Writer
	*flag.FlagSet
}

type stringList []string

func (l *stringList) String() string { return strings.Join(*l, ",") }

func (l *stringList) Set(s string) error { *l = append(*l, s); return nil }
