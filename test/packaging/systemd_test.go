package packaging

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/adult"
	"fugu/test/pgcluster"
)

// live has the package's service live its life under a systemd of its own: testdata/service.sh in testdata/machine.sh.
func live(t *testing.T, deb string) {
	if os.Geteuid() != 0 {
		t.Skip("root is needed to boot a machine")
	}
	if out, err := exec.CommandContext(t.Context(), "testdata/machine.sh", t.TempDir(), "/bin/true").
		CombinedOutput(); err != nil {
		t.Skipf("no systemd can be booted here: %v: %s", err, out)
	}
	c := pgcluster.StartTest(t, pgcluster.Options{})
	if _, err := adult.Load(t.Context(), c, "adult", adult.Options{}); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/service.sh")
	if err != nil {
		t.Fatal(err)
	}

	at := t.TempDir()
	out, failed := exec.CommandContext(t.Context(), "testdata/machine.sh", at, script, deb,
		c.DSN("fugu_guest", "adult"), c.DSN("fugu_reader", "adult"), freePort(t), freePort(t)).CombinedOutput()
	log, err := os.ReadFile(filepath.Join(at, "log"))
	if err != nil {
		t.Fatal(err)
	}
	if failed != nil || !strings.Contains(string(log), "\nthe service lives\n") {
		t.Errorf("%v: %s\n%s", failed, out, log)
	}
}

// freePort is a port on which nobody listens.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
