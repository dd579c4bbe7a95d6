package adult

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	example "fugu/examples/adult"
)

// census is how the temporary table census stands in a file.
const census = "(FORMAT csv, HEADER, NULL '?')"

// generate makes the temporary table census of generated people. To make them takes two seconds of a processor, some
// forty databases of tests have them, and they are always the same: the first time they are kept in a file, in the
// directory of the user's caches.
func generate(ctx context.Context, conn *pgx.Conn) error {
	file, err := keptFile()
	if err == nil && exists(file) {
		return read(ctx, conn, file)
	}
	if err := exec(ctx, conn, example.Generate); err != nil {
		return err
	}
	if err == nil {
		_ = keep(ctx, conn, file) // the next one will try again
	}
	return nil
}

// keptFile is where the people are kept that these scripts make.
func keptFile() (string, error) {
	dir, err := os.UserCacheDir()
	scripts := sha256.Sum256([]byte(example.Schema + example.Generate))
	return filepath.Join(dir, "fugu", fmt.Sprintf("adult-%x.csv", scripts[:8])), err
}

// keep writes the table into the file, which is there when it is complete.
func keep(ctx context.Context, conn *pgx.Conn, file string) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "adult-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := conn.PgConn().CopyTo(ctx, f, "COPY census TO STDOUT "+census); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// read makes the table of a file.
func read(ctx context.Context, conn *pgx.Conn, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := exec(ctx, conn, "CREATE TEMP TABLE census (LIKE adult)"); err != nil {
		return err
	}
	if _, err = conn.PgConn().CopyFrom(ctx, f, "COPY census FROM STDIN "+census); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
