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

const usage = `fugu keeps global properties of a dataset secret, on PostgreSQL's wire.

  fugu serve   -c fugu.yaml          answer clients
  fugu check   -c fugu.yaml          check configuration, policies, grants and references, and say what is wrong
  fugu fit     -c fugu.yaml          prepare models from the references, and report how well they fit
  fugu preview -c fugu.yaml "SQL"    show F, mechanism, noise and interval for several epsilon; spends nothing
  fugu budget  -c fugu.yaml          show what is left of every budget
  fugu budget show DATASET -c fugu.yaml [-user NAME] [-n 20]
                                     everything about one: last charges, resets, refusals
  fugu budget reset DATASET -reason TEXT -c fugu.yaml
                                     have a dataset's budgets begin anew; audited, and says what that gives up
  fugu twin    build|preview|show|drop -c fugu.yaml [DATASET...]
                                     make the twins that policies ask for; show what they would be, or are; drop them
  fugu twin export [DATASET] FILE -c fugu.yaml
                                     write twins as SQL for somebody who never sees the proxy, and a certificate
  fugu epoch advance -c fugu.yaml DATASET -reason "..."
                                     say that the tables hold other data: stored answers end
  fugu audit verify|export -c fugu.yaml
                                     verify the ledger and its audit chain; print the chain
  fugu ledger backup FILE -c fugu.yaml
                                     copy the ledger, while proxies use it
  fugu ledger export|import FILE -c fugu.yaml
                                     bring a whole ledger from one store to another
  fugu ledger compact -before DATE -reason TEXT -c fugu.yaml
                                     drop the content of old answers; who asks again is charged again

fugu COMMAND -h lists the flags of a command.
`

type command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

var commands = map[string]command{
	"serve":   serve,
	"check":   check,
	"preview": preview,
	"fit":     fit,
	"budget":  budget,
	"audit":   auditing,
	"epoch":   epoch,
	"ledger":  ledgerCommand,
	"twin":    twinCommand,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "--help":
		fmt.Fprint(stdout, usage)
		return exitOK
	}

	cmd, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "fugu: unknown command %q\n\n%s", args[0], usage)
		return exitUsage
	}
	err := cmd(ctx, args[1:], stdout, stderr)
	var mistake usageError

	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &mistake):
		fmt.Fprintf(stderr, "fugu %s: %v\n", args[0], err)
		return exitUsage
	}
	fmt.Fprintln(stderr, describe(err))
	return exitFailure
}
