package fitted

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"fugu/planner"
)

// Builder makes an artifact part by part. What is added is on disk when Add returns: a Builder that comes later goes on
// from there.
type Builder struct {
	path string
	file *os.File // path + unfinished
	sum  string
	kept map[string][][]planner.Value
	left map[string]Part // of an artifact that stands at path, to be taken over when asked for
}

// unfinished ends the name of an artifact without a seal.
const unfinished = ".part"

// Create starts the artifact of a header at path, or goes on with one that was begun under the same policy and
// references. The parts of a finished one there are at hand, too. One Builder may work on a path at a time.
func Create(path string, h Header) (*Builder, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path+unfinished, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	b := &Builder{path: path, file: f, kept: map[string][][]planner.Value{}, left: map[string]Part{}}
	if err := b.begin(h); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("beginning %s: %w", f.Name(), err)
	}
	return b, nil
}

func (b *Builder) begin(h Header) error {
	if err := syscall.Flock(int(b.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.New("another fit is at work on it")
	}
	if mine, err := b.file.Stat(); err != nil {
		return err
	} else if there, err := os.Stat(b.file.Name()); err != nil || !os.SameFile(mine, there) {
		return errors.New("another fit has just finished it; start again")
	}

	// A file that is damaged is good up to there.
	got, _ := read(b.file, func(p Part) { b.kept[p.Query] = values(p.Rows) })
	if got.sum == "" || got.sealed || got.header.Fits(h) != nil {
		clear(b.kept)
		got = content{}
	}
	if err := b.file.Truncate(got.end); err != nil {
		return err
	}
	if _, err := b.file.Seek(got.end, io.SeekStart); err != nil {
		return err
	}
	b.sum = got.sum
	if old, err := os.Open(b.path); err == nil {
		defer old.Close()
		parts := map[string]Part{}
		if got, err := read(old, func(p Part) { parts[p.Query] = p }); err == nil && got.sealed &&
			got.header.Fits(h) == nil {
			b.left = parts
		}
	}

	if b.sum != "" {
		return nil
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return b.write(line{Header: text})
}

// Rows returns what the references answered to a statement, if it is known.
func (b *Builder) Rows(query string) ([][]planner.Value, bool) {
	rows, ok := b.kept[query]
	return rows, ok
}

// Reuse takes a part over from the finished artifact that this one replaces, and reports whether it is there.
func (b *Builder) Reuse(query string) (bool, error) {
	p, ok := b.left[query]
	if !ok {
		return false, nil
	}
	return true, b.add(p)
}

// Add makes a part durable.
func (b *Builder) Add(statement, query string, rows [][]planner.Value) error {
	return b.add(Part{statement, query, texts(rows)})
}

func (b *Builder) add(p Part) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := b.write(line{Part: text}); err != nil {
		return err
	}
	b.kept[p.Query] = values(p.Rows)
	return nil
}

func (b *Builder) write(l line) error {
	text, err := compose(l, b.sum)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	if _, err := b.file.Write(text); err != nil {
		return err
	}
	if err := b.file.Sync(); err != nil {
		return err
	}
	b.sum = l.Sum
	return nil
}

// Seal finishes the artifact, and puts it in the place of the one before.
func (b *Builder) Seal() (*Artifact, error) {
	if err := b.write(line{Seal: json.RawMessage(`{}`)}); err != nil {
		return nil, fmt.Errorf("sealing %s: %w", b.path, err)
	}
	if err := os.Rename(b.file.Name(), b.path); err != nil {
		return nil, fmt.Errorf("sealing %s: %w", b.path, err)
	}
	if dir, err := os.Open(filepath.Dir(b.path)); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
	return Open(b.path)
}

// Close leaves what was added for a later Builder.
func (b *Builder) Close() error { return b.file.Close() }
