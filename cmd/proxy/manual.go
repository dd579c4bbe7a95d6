package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// manual prints the manual page, in the macros of man(7).
func manual(_ context.Context, args []string, stdout, stderr io.Writer) error {
	fs, err := flagsAlone("man", args, stderr, nil)
	if err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usageError{errors.New(`say "fugu man", for instance fugu man | man -l -`)}
	}

	var b strings.Builder
	b.WriteString(".TH FUGU 1\n.SH NAME\nfugu \\- keeps global properties of a dataset secret, on PostgreSQL's wire\n" +
		".SH SYNOPSIS\n.B fugu\n.I COMMAND\n.RI [ ARGUMENTS ]\n.SH COMMANDS\n")

	// A command stands once for each way to use it; its flags are those of all of them.
	for _, c := range commands() {
		for _, u := range c.uses {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s.\n", roff(c.call(u)), roff(capital(u.does)))
		}
		if flags := c.flags(); len(flags) > 0 {
			b.WriteString(".RS\n")
			for _, f := range flags {
				takes, does := value(f)
				fmt.Fprintf(&b, ".TP\n.B \\-%s", roff(f.Name))
				if takes != "" {
					fmt.Fprintf(&b, " \\fI%s\\fR", roff(takes))
				}
				fmt.Fprintf(&b, "\n%s", roff(capital(does)))
				if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" &&
					f.DefValue != login() { // which is another on each machine
					fmt.Fprintf(&b, " (default %s)", roff(f.DefValue))
				}
				b.WriteString(".\n")
			}
			b.WriteString(".RE\n")
		}
	}

	b.WriteString(".SH EXIT STATUS\n0: done. 1: something is wrong, or failed. 2: a mistake on the command line.\n" +
		".SH ENVIRONMENT\nFUGU_ and a key of fugu.yaml, such as FUGU_AUTH_USERS, has the place of that key.\n" +
		"NO_COLOR: no colours.\n")
	_, err = io.WriteString(stdout, b.String())
	return err
}

// roff writes text so that it stands for itself.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
