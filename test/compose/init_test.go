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

// The scripts that fill the databases run as in their containers, but with the examples elsewhere.
func TestInit(t *testing.T) {
	for _, c := range []struct {
		script, mounted, source, roles string
		keeper                         bool
	}{
		{"examples/adult/docker-init.sh", "/example/", "examples/adult", "fugu_guest, fugu_reader", false},
		{"examples/adult-twin/docker-init.sh", "/examples/", "examples", "fugu_guest, fugu_keeper, fugu_reader", true},
	} {
		t.Run(c.source, func(t *testing.T) {
			cluster := pgcluster.StartTest(t, pgcluster.Options{})
			if err := cluster.CreateDatabase(t.Context(), "adult", ""); err != nil {
				t.Fatal(err)
			}
			source, err := filepath.Abs(filepath.Join(root, c.source))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-c",
				strings.Replace(read(t, c.script), c.mounted, source+"/", 1))
			cmd.Env = append(os.Environ(), "PGHOST="+cluster.SocketDir(), "PGPORT="+strconv.Itoa(cluster.Port()),
				"POSTGRES_DB=adult", "GUEST_PASSWORD=guest'demo", "READER_PASSWORD=reader-demo",
				"KEEPER_PASSWORD=keeper-demo")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}

			conn, err := pgx.Connect(t.Context(), cluster.DSN("postgres", "adult"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			var rows int
			var roles string
			var keeper bool
			if err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM adult),
				(SELECT string_agg(rolname, ', ' ORDER BY rolname) FROM pg_authid WHERE rolpassword LIKE 'SCRAM%'),
				coalesce((SELECT has_table_privilege(oid, 'adult', 'SELECT')
					AND has_database_privilege(oid, 'adult', 'CREATE')
					FROM pg_roles WHERE rolname = 'fugu_keeper'), false)`).Scan(&rows, &roles, &keeper); err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprint(rows, roles, keeper), fmt.Sprint(35222, c.roles, c.keeper); got != want {
				t.Errorf("rows, roles with a password, and a keeper that can build: %s, want %s", got, want)
			}
		})
	}
}
