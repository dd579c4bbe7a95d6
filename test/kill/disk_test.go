//go:build fuguhooks

package kill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk mounts a file system of so many bytes, that belongs to whom the directory owner does. It needs the right to
// mount.
func smallDisk(t *testing.T, bytes int, owner string) (dir string) {
	t.Helper()
	info, err := os.Stat(owner)
	if err != nil {
		t.Fatal(err)
	}
	dir, err = os.MkdirTemp("/tmp", "fugu-disk-") // PostgreSQL's account cannot enter t.TempDir's
	if err != nil {
		t.Fatal(err)
	}
	by := info.Sys().(*syscall.Stat_t)
	err = syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("mode=0700,uid=%d,gid=%d,size=%d", by.Uid, by.Gid, bytes))
	if errors.Is(err, syscall.EPERM) {
		_ = os.Remove(dir)
		t.Skip("mounting a small disk needs root")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(syscall.Unmount(dir, syscall.MNT_DETACH), os.Remove(dir)); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 64 << 10; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}

// refusals asks new statements until n of them in a row are refused with 57P03. Each other is answered and charged
// once; one that is refused was charged at most once, where there was room for the charge and none for the answer.
func (s *scene) refusals(n int) {
	s.t.Helper()
	before := s.read()
	answered, all := 0, 0
	for refused := 0; refused < n; all++ {
		c := dial(s.t, s.proxy.Address(), "alice")
		r := c.exchange(simple(s.statement()))
		_ = c.Close()
		switch {
		case r.complete && r.code() == "" && answered < 5000:
			answered++
			refused = 0
		case r.complete && r.code() == "57P03" && !r.told():
			refused++
		default:
			s.t.Fatalf("after %d answers: %v", answered, r)
		}
	}
	if booked := len(s.read().entries) - len(before.entries); booked < answered || booked > all {
		s.t.Errorf("of %d statements %d were answered, %d charged", all, answered, booked)
	}
}

// recovers checks that a statement is answered and charged once, as is one that was refused: then, or now.
func (s *scene) recovers(refused string) {
	s.t.Helper()
	for _, sql := range []string{refused, s.statement()} {
		before := s.read()
		c := dial(s.t, s.proxy.Address(), "alice")
		r, again := c.exchange(simple(sql)), c.exchange(simple(sql))
		_ = c.Close()
		if !r.complete || r.code() != "" || string(r.bytes) != string(again.bytes) {
			s.t.Errorf("with room again: %v, then %v", r, again)
		}
		after := s.read()
		charges := len(after.entries) - len(before.entries)
		if charges != 1 && !(sql == refused && charges == 0) || !after.has(r.rows()) {
			s.t.Errorf("with room again: %d charges", charges)
		}
	}
}

// full runs a scene through a full disk, which filling fills up to, and freeing gives room on.
func (s *scene) full(filling, freeing func()) {
	s.t.Helper()
	s.start()
	c := dial(s.t, s.proxy.Address(), "alice")
	defer c.Close()
	known := s.statement()
	first := c.exchange(simple(known))
	filling()
	s.refusals(3)
	if again := c.exchange(simple(known)); string(again.bytes) != string(first.bytes) {
		s.t.Errorf("what is known was answered\n%v\nbefore it was\n%v", again, first)
	}
	// Room that a refused one has left behind may be enough for the next.
	refused, r := "", reply{}
	for tries := 0; tries < 20 && r.code() != "57P03"; tries++ {
		refused = s.statement()
		r = c.exchange(simple(refused))
	}
	if r.code() != "57P03" {
		s.t.Errorf("with the disk full: %v", r)
	}
	freeing()
	s.recovers(refused)
	s.stop()
	s.start()
	s.recovers(s.statement())
}

// A full disk refuses what is new, and nothing else; when there is room again, all goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		s := newScene(t, "SQLite", 1e6)
		dir := smallDisk(t, 2<<20, s.config.Dir)
		s.file = filepath.Join(dir, "fugu.db")
		s.config.Ledger = "sqlite:" + s.file
		filler := filepath.Join(dir, "filler")
		s.full(func() { fill(t, filler) }, func() {
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
		})
	})
	// A limit on the size of files, where no disk can be mounted, is the same to SQLite but for the code.
	t.Run("SQLite, limited", func(t *testing.T) {
		s := newScene(t, "SQLite", 1e6)
		s.full(func() { limit(t, s.proxy.PID(), "200000") }, func() { limit(t, s.proxy.PID(), "unlimited") })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		s := newScene(t, "PostgreSQL", 1e6)
		dir := smallDisk(t, 10<<20, s.server.SocketDir())
		s.onTablespace(dir)
		filler := filepath.Join(dir, "filler")
		s.full(func() { fill(t, filler) }, func() {
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// limit bounds the size of files that a process may write, in bytes or "unlimited".
func limit(t *testing.T, pid int, bytes string) {
	t.Helper()
	if out, err := exec.Command("prlimit", "--pid", fmt.Sprint(pid), "--fsize="+bytes+
		":unlimited").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// onTablespace puts the ledger's database on a disk, until the test ends.
func (s *scene) onTablespace(dir string) {
	s.t.Helper()
	for _, sql := range []string{"CREATE TABLESPACE small LOCATION '" + strings.ReplaceAll(dir, "'", "''") + "'",
		"ALTER DATABASE " + s.database + " SET TABLESPACE small"} {
		if err := s.server.Exec(s.t.Context(), "postgres", sql); err != nil {
			s.t.Fatal(err)
		}
	}
	s.t.Cleanup(func() {
		for _, sql := range []string{"DROP DATABASE " + s.database + " WITH (FORCE)", "DROP TABLESPACE small"} {
			if err := s.server.Exec(context.Background(), "postgres", sql); err != nil {
				s.t.Error(err)
			}
		}
	})
}
