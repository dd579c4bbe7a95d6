package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"fugu/internal/config"
	"fugu/ledger"
	"fugu/ledger/audit"
)

// ledgerCommand copies a ledger, brings it to another store, or makes it smaller.
func ledgerCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	asJSON, before := false, ""
	why := ledger.Why{Operator: login()}
	var asked *flag.FlagSet
	rest, path, err := words("ledger", args, stderr, func(fs *flag.FlagSet) {
		asked = fs
		fs.BoolVar(&asJSON, "json", asJSON, "print JSON")
		fs.StringVar(&before, "before", before,
			"compact answers given before `date`: 2006-01-02, or with a time as in RFC 3339")
		whyFlags(fs, &why)
	})
	if err != nil {
		return err
	}

	// The subcommand and its file stand behind the flags.
	what := ""
	if len(rest) > 0 {
		what = rest[0]
	}
	var done map[string]any
	switch {
	case what == "compact" && len(rest) == 1:
		if err = takesOnly(asked, "ledger compact", "before", "reason", "operator", "json"); err == nil {
			done, err = compact(ctx, path, before, why)
		}
	case len(rest) == 2 && (what == "export" || what == "import" || what == "backup"):
		if err := takesOnly(asked, "ledger "+what, "json"); err != nil {
			return err
		}
		var cfg *config.Config
		if cfg, err = config.Load(path, os.Environ()); err == nil {
			done, err = transfer(ctx, cfg, what, rest[1], stdout)
		}
	default:
		return usageError{errors.New(
			`say "fugu ledger export FILE", "import FILE", "backup FILE" or "compact -before DATE -reason TEXT"`)}
	}
	if err != nil {
		return err
	}

	if len(rest) == 2 && rest[1] == "-" && what == "export" { // the export is what is printed
		stdout = stderr
	}
	if asJSON {
		return printJSON(stdout, done)
	}

	if what == "compact" {
		_, err = fmt.Fprintf(stdout, "%s %d answers have lost their content; "+
			"who asks for them again is charged again\n", green(stdout, "ok"), done["answers"])
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s %s: the audit chain ends with %d:%s\n",
		green(stdout, "ok"), what, done["number"], done["hash"])
	return err
}

// transfer writes a ledger to a file, or reads it from there; what it returns is where the chain ended.
func transfer(ctx context.Context, cfg *config.Config, what, file string, stdout io.Writer) (map[string]any, error) {
	var head audit.Link
	if err := hasLedger(cfg); err != nil {
		return nil, err
	}
	var err error

	switch {
	case what == "import":
		in := os.Stdin
		if file != "-" {
			if in, err = os.Open(file); err != nil {
				return nil, err
			}
			defer func() { _ = in.Close() }()
		}
		head, err = ledger.Import(ctx, ledgerURL(cfg.Ledger), ledger.Options{Key: cfg.Ledger.Key}, in)
	case what == "backup" && file == "-":
		return nil, usageError{errors.New("a backup wants a file: fugu ledger export writes to the standard output")}
	default:
		l, oerr := openManager(ctx, cfg, toLook)
		if oerr != nil {
			return nil, oerr
		}
		defer func() { _ = l.Close() }()
		switch {
		case what == "backup":
			head, err = l.Backup(ctx, file)
		case file == "-":
			head, err = l.Export(ctx, stdout)
		default:
			head, err = exportTo(ctx, l, file)
		}
	}
	if err != nil {
		return nil, err
	}

	// Who keeps number and hash can hold the next audit to them.
	e, err := head.Entry()
	return map[string]any{"number": e.Number, "hash": head.Hash}, err
}

// exportTo exports into a new file that only its owner can read, and leaves none behind that is not whole.
func exportTo(ctx context.Context, l ledger.Manager, file string) (head audit.Link, err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return audit.Link{}, err
	}
	head, err = l.Export(ctx, f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(file)
	}
	return head, err
}

// compact takes the content off answers that were given before a date.
func compact(ctx context.Context, path, before string, why ledger.Why) (map[string]any, error) {
	date, err := time.Parse(time.DateOnly, before)
	if err != nil {
		date, err = time.Parse(time.RFC3339, before)
	}
	if err != nil || date.After(time.Now()) {
		return nil, usageError{errors.New(
			"-before wants a date of the past, such as 2006-01-02 or 2006-01-02T15:04:05Z")}
	}

	// What goes cannot be brought back, so that a reason is asked for.
	if err := checkWhy(why); err != nil {
		return nil, err
	}
	cfg, err := config.Load(path, os.Environ())
	if err != nil {
		return nil, err
	}

	l, err := openManager(ctx, cfg, toWrite)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	n, err := l.Compact(ctx, date, why)
	return map[string]any{"answers": n, "before": date.UTC()}, err
}
