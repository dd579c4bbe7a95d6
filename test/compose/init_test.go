package compose

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/pgcluster"
)

// The script that fills the database runs as in the container, but with the example elsewhere.
func TestInit(t *testing.T) {
	c := pgcluster.StartTest(t, pgcluster.Options{})
	if err := c.Exec(t.Context(), "postgres", "CREATE DATABASE adult"); err != nil {
		t.Fatal(err)
	}
	example, err := filepath.Abs(filepath.Join(root, "examples/adult"))
	if err != nil {
		t.Fatal(err)
	}
	script := strings.Replace(read(t, "examples/adult/docker-init.sh"), "/example/", example+"/", 1)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Env = append(os.Environ(), "PGHOST="+c.SocketDir(), "PGPORT="+strconv.Itoa(c.Port()),
		"POSTGRES_DB=adult", "GUEST_PASSWORD=guest'demo", "READER_PASSWORD=reader-demo")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	conn, err := pgx.Connect(t.Context(), c.DSN("postgres", "adult"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var rows, passwords int
	if err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM adult),
		(SELECT count(*) FROM pg_authid WHERE rolname IN ('fugu_guest', 'fugu_reader') AND rolpassword LIKE 'SCRAM%')`).Scan(&rows, &passwords); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(rows, passwords); got != "35222 2" {
		t.Errorf("rows and passwords: %s", got)
	}
}
