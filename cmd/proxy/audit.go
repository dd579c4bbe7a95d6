package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"fugu/internal/config"
	"fugu/ledger"
	"fugu/ledger/audit"
)

// auditing verifies the ledger and its audit chain; export prints the chain besides, one entry a line.
func auditing(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	what := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		what, args = args[0], args[1:]
	}
	var known string
	fs, path, err := flags("audit", args, stderr, func(fs *flag.FlagSet) {
		fs.StringVar(&known, "head", "", "`NUMBER:HASH` that an earlier audit printed, which must be in the chain")
	})
	if err != nil {
		return err
	}
	if what != "verify" && what != "export" || fs.NArg() > 0 {
		return usageError{errors.New(`say "fugu audit verify" or "fugu audit export"`)}
	}

	number, hash, err := parseHead(known)
	if err != nil {
		return usageError{err}
	}
	cfg, err := config.Load(path, os.Environ())
	if err != nil {
		return err
	}
	if err := hasLedger(cfg); err != nil {
		return err
	}

	// It is opened for reading alone: an audit changes nothing.
	l, err := ledger.Open(ctx, ledgerURL(cfg.Ledger), ledger.Options{ReadOnly: true, Key: cfg.Ledger.Key})
	if err != nil {
		return fmt.Errorf("opening the ledger: %w", err)
	}
	defer func() { _ = l.Close() }()

	// Who kept the head of an earlier audit sees by it whether the chain was cut or replaced since.
	n, met := int64(0), known == ""
	head, err := l.Audit(ctx, func(l audit.Link) error {
		met = met || n == number && l.Hash == hash
		n++
		if what == "export" {
			_, err := fmt.Fprintf(stdout, "{\"hash\":%q,\"entry\":%s}\n", l.Hash, l.Text)
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}

	if !met {
		return fmt.Errorf("the chain does not contain %s: the ledger was put back to an earlier state, or replaced",
			known)
	}
	if what == "verify" {
		fmt.Fprintf(stdout, "%s %d entries; the last is %d:%s\n", green(stdout, "ok"), n, n-1, head.Hash)
	}
	return nil
}

// parseHead reads the NUMBER:HASH of an entry.
func parseHead(s string) (number int64, hash string, err error) {
	if s == "" {
		return 0, "", nil
	}
	text, hash, _ := strings.Cut(s, ":")
	number, err = strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 || len(hash) != 64 {
		return 0, "", errors.New("-head wants NUMBER:HASH, as fugu audit verify prints it")
	}
	return number, hash, nil
}
