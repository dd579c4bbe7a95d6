package integration

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/ledger"
)

// childEnv makes the test binary a Fugu of its own, which a test can kill: its value is the ledger's file, then the
// DSNs of guest and reader, then the number of rows, and whether to die right after a charge.
const childEnv = "FUGU_TEST_CHILD"

// dying kills its process as soon as a charge is durable, before anyone has the answer.
type dying struct{ ledger.Ledger }

func (d dying) Charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	_, _ = d.Ledger.Charge(ctx, c)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// child serves until it is killed.
func child() int {
	var file, guest, reader string
	var rows int64
	var die bool
	if _, err := fmt.Sscan(os.Getenv(childEnv), &file, &guest, &reader, &rows, &die); err != nil {
		fmt.Println(err)
		return 1
	}
	o := options{ledger: file, guest: guest, reader: reader}
	if die {
		o.wrapLedger = func(l ledger.Ledger) ledger.Ledger { return dying{l} }
	}
	f, err := start(context.Background(), &database{rows: rows}, filepath.Dir(file), o)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready", f.address)
	select {}
}

func startChild(t *testing.T, file string, die bool) (address string, kill func()) {
	t.Helper()
	db := adultDatabase(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{file, db.cluster.DSN("fugu_guest", "adult"),
		db.cluster.DSN("fugu_reader", "adult"),
		fmt.Sprint(db.rows), fmt.Sprint(die)}, " "))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ok {
		t.Fatalf("the child says %q, %v", line, err)
	}
	return address, kill
}

// A proxy that is killed between charge and release loses neither: after a restart the budget is what the charge left,
// and the stored answer is served at no further cost.
func TestKilledBetweenChargeAndRelease(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fugu.db")
	for i := range 5 {
		sql := fmt.Sprintf("SELECT sex, avg(age), count(*) FROM adult WHERE age > %d GROUP BY sex", 20+i)
		address, kill := startChild(t, file, true)
		c := connect(t, (&fugu{address: address}).dsn("alice"))
		got, err := c.Query(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		if err == nil {
			for got.Next() {
				t.Fatal("a row came from a proxy that was killed before the release")
			}
			err = got.Err()
		}
		if err == nil {
			t.Fatal("the statement succeeded")
		}
		kill()

		address, kill = startChild(t, file, false)
		c = connect(t, (&fugu{address: address}).dsn("bob"))
		charged, n := spent(t, c)
		if n != i+1 || charged <= 0 {
			t.Fatalf("after %d kills there are %d releases, epsilon %g", i+1, n, charged)
		}
		first := rows(t, c, sql)
		if rows(t, c, sql) != first {
			t.Error("two answers")
		}
		if after, n := spent(t, c); after != charged || n != i+1 {
			t.Errorf("the stored answer cost epsilon %g, %d releases", after-charged, n-i-1)
		}
		kill()
	}
}
