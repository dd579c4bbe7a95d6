// Command fugu is a PostgreSQL proxy that keeps global properties of a dataset secret.
//
// This package is the command line alone: it reads the configuration, puts the other packages together, and prints.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // findings, or something failed
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage())
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "--help":
		fmt.Fprint(stdout, usage())
		return exitOK
	}
	cmd, ok := commandOf(args[0])
	if !ok {
		fmt.Fprintf(stderr, "fugu: unknown command %q: %s\n", args[0], meant(args[0]))
		return exitUsage
	}

	// A mistake in the command line has an exit code of its own. What a command has printed itself is not repeated.
	err := cmd.run(ctx, args[1:], stdout, stderr)
	var mistake usageError

	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errTold):
		return exitFailure
	case errors.As(err, &mistake):
		fmt.Fprintf(stderr, "fugu %s: %v\n", args[0], err)
		return exitUsage
	}
	fmt.Fprintln(stderr, describe(err))
	return exitFailure
}
