package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
	"fugu/wire/auth"
)

// A user that is added can log in with the password, and with no other; the lines of others stay as they are.
func TestUserAdd(t *testing.T) {
	patient.Test(t)
	path := setting(t, "method: trust", "method: scram-sha-256\n  users: users.txt")
	file := filepath.Join(filepath.Dir(path), "users.txt")
	aliceAlone(t, file, "old")
	proxy, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	enters := func(user, password string) bool {
		conn, err := pgx.Connect(t.Context(), "postgres://"+user+":"+password+"@"+proxy.address+
			"/adult?sslmode=disable")
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err == nil
	}
	if !enters("alice", "old") {
		t.Fatal("a verifier that was made here lets nobody in")
	}

	expect(t, exitFailure, "is in", "user", "add", "alice", "-generate", "-c", path)
	code, stdout, stderr := invoke(t, "user", "add", `o"hara`, "-generate", "-c", path)
	_, password, ok := strings.Cut(strings.TrimSpace(stdout), "password: ")
	if code != exitOK || !ok {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	eventually(t, "the new user is in", func() bool { return enters(`o%22hara`, password) })
	if enters(`o%22hara`, "guess") || !enters("alice", "old") {
		t.Error("another password is good, or alice is out")
	}

	// Another password comes in the place of the one before, by a pipe.
	cmd := exec.CommandContext(t.Context(), os.Args[0], "user", "add", "alice", "-replace", "-c", path)
	cmd.Env = append(os.Environ(), asFugu+"=1")
	cmd.Stdin = strings.NewReader("new\n")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "new") {
		t.Fatalf("%v: %s", err, out)
	}
	eventually(t, "the new password is good", func() bool { return enters("alice", "new") })
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o640 || !strings.HasPrefix(string(text), "; ours\n") ||
		strings.Count(string(text), "\n") != 3 || enters("alice", "old") {
		t.Errorf("%v %v:\n%s", err, info.Mode(), text)
	}

	expect(t, exitUsage, "fugu user add NAME", "user", "remove", "alice", "-c", path)
	expect(t, exitFailure, "a name has up to", "user", "add", strings.Repeat("x", 64), "-generate", "-c", path)
	expect(t, exitFailure, "no password came in", "user", "add", "carol", "-c", path)
}

// aliceAlone writes a file of users, by hand and for a group, in which alice alone has a password.
func aliceAlone(t *testing.T, file, password string) {
	t.Helper()
	verifier, err := auth.NewVerifier(password)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, "; ours\n\"alice\" \""+verifier+"\"\n")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
}
