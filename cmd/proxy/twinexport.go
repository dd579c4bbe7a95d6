package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"fugu/twin/build"
)

// export writes the twins of one dataset to a file, and their certificate beside it. Either is there whole or not at
// all; the certificate has the dump's hash, so that the two cannot be taken for a pair that they are not.
func (w *twins) export(ctx context.Context, conn *pgx.Conn, file string, stdout, stderr io.Writer, asJSON bool) error {
	p := w.roots[0].policy
	dump, err := createWhole(file)
	if err != nil {
		return err
	}
	defer dump.discard()

	e := build.Exporter{Conn: conn, Apart: w.standApart(), Fugu: built().String(), Progress: buildProgress(stderr,
		p.Dataset)}
	certificate, err := e.Export(ctx, p, dump)
	if err != nil {
		return err
	}

	// The certificate names the dump by its hash.
	sum := hex.EncodeToString(dump.hash.Sum(nil))
	certificate.Dump = build.Dump{File: filepath.Base(file), Bytes: dump.bytes, SHA256: sum}
	beside, err := createWhole(file + ".json")
	if err != nil {
		return err
	}
	defer beside.discard()

	text, err := json.MarshalIndent(certificate, "", "  ")
	if err != nil {
		return err
	}
	if _, err := beside.Write(append(text, '\n')); err != nil {
		return err
	}

	// Both are kept when nothing is left that could fail but the renaming itself.
	if err := errors.Join(dump.keep(), beside.keep()); err != nil {
		return err
	}

	if asJSON {
		return printJSON(stdout, certificate)
	}
	for _, t := range certificate.Twins {
		for _, table := range t.Tables {
			which := "which come with those"
			if table.Sampled > 0 {
				which = fmt.Sprintf("of which %d are different ones", table.Sampled)
			}
			fmt.Fprintf(stdout, "%s %s: %d rows, %s\n", green(stdout, "ok"), table.Table, table.Rows, which)
		}
		for _, left := range t.Left {
			fmt.Fprintf(stdout, "   note: the dump does not have %s\n", left)
		}
	}
	fmt.Fprintf(stdout, "%s %s, with its certificate in %s.json\n", green(stdout, "ok"), file, file)
	return nil
}

// exportOf finds the file, and the dataset if one is named, in the words behind "fugu twin export".
func exportOf(said []string) (file string, datasets []string, err error) {
	switch len(said) {
	case 1:
		return said[0], nil, nil
	case 2:
		return said[1], said[:1], nil
	}
	return "", nil, usageError{errors.New(`say "fugu twin export FILE", or "fugu twin export DATASET FILE"`)}
}

// oneDataset refuses to export several datasets into one file, whose certificate is of one.
func (w *twins) oneDataset() error {
	if len(w.roots) == 0 {
		return errors.New("no policy asks for a twin (answers: twin)")
	}
	for _, root := range w.roots {
		if root.policy != w.roots[0].policy {
			return usageError{fmt.Errorf("the policies have twins of %s and %s: say which to export, fugu twin "+
				"export DATASET FILE",
				w.roots[0].policy.Dataset, root.policy.Dataset)}
		}
	}
	return nil
}

// whole is a file that comes to be under its name when it is whole. Only its owner can read it.
type whole struct {
	file *os.File
	to   *bufio.Writer
	name string
	hash interface {
		io.Writer
		Sum([]byte) []byte
	}
	bytes int64
	kept  bool
}

func createWhole(name string) (*whole, error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, err
	}
	return &whole{file: f, to: bufio.NewWriterSize(f, 1<<20), name: name, hash: sha256.New()}, nil
}

func (w *whole) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	_, _ = w.hash.Write(b[:n])
	w.bytes += int64(n)
	return n, err
}

// keep gives the file its name, once all of it is on disk.
func (w *whole) keep() error {
	if err := errors.Join(w.to.Flush(), w.file.Sync(), w.file.Close()); err != nil {
		return err
	}
	err := os.Rename(w.file.Name(), w.name)
	w.kept = err == nil
	return err
}

// discard removes what was not kept.
func (w *whole) discard() {
	if !w.kept {
		_ = w.file.Close()
		_ = os.Remove(w.file.Name())
	}
}
