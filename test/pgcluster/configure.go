package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Configure writes files into the directory of the cluster's data, for the server alone to read, changes settings to
// the given values, and has the server take both over: for certificates and pg_hba.conf, say. The superuser must still
// be let in over an unencrypted connection without a password.
func (c *Cluster) Configure(ctx context.Context, files, settings map[string]string) error {
	for name, text := range files {
		path := filepath.Join(c.data(), name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, 0o600),
			os.Chown(path, c.as.uid, c.as.gid)); err != nil {
			return fmt.Errorf("pgcluster: %w", err)
		}
	}
	loaded, err := c.loadTime(ctx)
	if err != nil {
		return err
	}
	for name, value := range settings {
		if err := c.Exec(ctx, "postgres", "ALTER SYSTEM SET "+pgx.Identifier{name}.Sanitize()+" = '"+
			strings.ReplaceAll(value, "'", "''")+"'"); err != nil {
			return err
		}
	}
	if err := c.Exec(ctx, "postgres", "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		now, err := c.loadTime(ctx)
		if err != nil || now != loaded {
			return err
		}
		if time.Now().After(deadline) {
			return errors.New("pgcluster: the server does not reload its configuration")
		}
	}
}

// loadTime is when the server has last read its configuration.
func (c *Cluster) loadTime(ctx context.Context) (answer string, err error) {
	conn, err := pgx.Connect(ctx, c.DSN("postgres", "postgres"))
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = conn.QueryRow(ctx, "SELECT pg_catalog.pg_conf_load_time()::text").Scan(&answer)
	return answer, err
}
