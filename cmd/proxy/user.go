package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"fugu/internal/config"
	"fugu/internal/setup"
	"fugu/wire/auth"
)

// userCommand gives a user a password: it writes the verifier into the users file, which serve reads again by itself.
func userCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	file, replace, generate := "", false, false
	rest, path, err := words("user", args, stderr, func(fs *flag.FlagSet) {
		fs.StringVar(&file, "f", file, "users `file`; that of the configuration if it is not given")
		fs.BoolVar(&replace, "replace", replace, "give a user that there is another password")
		fs.BoolVar(&generate, "generate", generate, "make a password and print it, in the place of asking for one")
	})
	if err != nil {
		return err
	}
	if len(rest) != 2 || rest[0] != "add" {
		return usageError{errors.New(`say "fugu user add NAME"`)}
	}
	if file == "" {
		cfg, err := config.Load(path, os.Environ())
		if err != nil {
			return err
		}
		if file = cfg.Auth.Users; file == "" {
			return errors.New("the configuration names no users file; write auth.users, or give -f FILE")
		}
	}

	// Nothing is asked for that would be refused.
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading users: %w", err)
	}
	users, err := auth.ParseUsers(file, string(old))
	if err != nil {
		return err
	}
	if _, there := users[rest[1]]; there && !replace {
		return fmt.Errorf("user %q is in %s already; -replace gives another password", rest[1], file)
	}

	pass, err := newPassword()
	if !generate && err == nil {
		pass, err = askPassword(os.Stdin, stderr)
	}
	if err != nil {
		return err
	}
	text := withUser(string(old), rest[1], pass.Verifier)
	if _, err := auth.ParseUsers(file, text); err != nil { // the name may be none
		return err
	}
	like, err := os.Stat(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeWhole(file, []byte(text), 0o600, like); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s user %q is in %s\n", green(stdout, "ok"), rest[1], file)
	if generate {
		fmt.Fprintf(stdout, "   password: %s\n", pass.Password)
	}
	return nil
}

// withUser is a users file with a line for a user, in the place of the one that there is, or at the end.
func withUser(text, name, verifier string) string {
	line := setup.UserLine(name, verifier)
	quoted := setup.UserLine(name, "")
	begins := quoted[:len(quoted)-len(`""`)]
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), begins) {
			lines[i] = line
			return strings.Join(lines, "\n") + "\n"
		}
	}
	if lines[0] == "" && len(lines) == 1 {
		lines = nil
	}
	return strings.Join(append(lines, line), "\n") + "\n"
}

// newPassword makes one of 144 random bits.
func newPassword() (setup.Pass, error) {
	b := make([]byte, 18)
	if _, err := rand.Read(b); err != nil {
		return setup.Pass{}, fmt.Errorf("making a password: %w", err)
	}
	return verified(base64.RawURLEncoding.EncodeToString(b))
}

func verified(password string) (setup.Pass, error) {
	v, err := auth.NewVerifier(password)
	return setup.Pass{Password: password, Verifier: v}, err
}

// askPassword reads a password: twice and unseen at a terminal, and a line of whatever else is there.
func askPassword(in *os.File, out io.Writer) (setup.Pass, error) {
	if !term.IsTerminal(int(in.Fd())) {
		line, err := bufio.NewReader(in).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return setup.Pass{}, fmt.Errorf("reading the password: %w", err)
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			return setup.Pass{}, errors.New("no password came in: write one, or say -generate")
		}
		return verified(line)
	}

	// At a terminal nobody sees what they write, so that it is asked for twice.
	var said [2]string
	for i, question := range []string{"Password: ", "Again: "} {
		fmt.Fprint(out, question)
		b, err := term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(out)
		if err != nil {
			return setup.Pass{}, fmt.Errorf("reading the password: %w", err)
		}
		said[i] = string(b)
	}

	if said[0] != said[1] || said[0] == "" {
		return setup.Pass{}, errors.New("the two are not the same, or empty: nothing was changed")
	}
	return verified(said[0])
}

// writeWhole writes a file so that nobody reads a part of it. One in whose place it comes can lend it mode and owner.
func writeWhole(path string, text []byte, mode fs.FileMode, like fs.FileInfo) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".fugu-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // which fails once it has its name
	if like != nil {
		mode = like.Mode().Perm()
		if s, ok := like.Sys().(*syscall.Stat_t); ok {
			_ = f.Chown(int(s.Uid), int(s.Gid)) // which only root can for others, and others need not
		}
	}
	if _, err = f.Write(text); err == nil {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
