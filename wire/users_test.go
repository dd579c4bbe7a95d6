package wire

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

var (
	key32        = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	salt16       = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", 16)))
	goodVerifier = "SCRAM-SHA-256$4096:" + salt16 + "$" + key32 + ":" + key32
)

func TestParseUsers(t *testing.T) {
	good := `"a" "` + goodVerifier + "\"\n"
	tests := map[string]struct {
		text  string
		names []string
		wrong []string // findings, by a part of each; all of them start with the file and line
	}{
		"empty":                {},
		"one":                  {text: good, names: []string{"a"}},
		"no newline at end":    {text: strings.TrimSpace(good), names: []string{"a"}},
		"Windows line ends":    {text: strings.ReplaceAll(good, "\n", "\r\n"), names: []string{"a"}},
		"comments and blanks":  {text: "; c\n# c\n\n  \t\n" + good, names: []string{"a"}},
		"quotes in the name":   {text: `"a""b" "` + goodVerifier + `"`, names: []string{`a"b`}},
		"spaces in the name":   {text: `"a b"	"` + goodVerifier + `"`, names: []string{"a b"}},
		"no quotes":            {text: "a b", wrong: []string{"f:1: a line is"}},
		"name alone":           {text: `"a"`, wrong: []string{"f:1: a line is"}},
		"empty name":           {text: `"" "` + goodVerifier + `"`, wrong: []string{"f:1: a line is"}},
		"something behind":     {text: strings.TrimSpace(good) + " x", wrong: []string{"f:1: a line is"}},
		"plain password":       {text: `"a" "secret!"`, wrong: []string{`f:1: user "a": not a SCRAM`}},
		"md5":                  {text: `"a" "md5abcdef"`, wrong: []string{`f:1: user "a": not a SCRAM`}},
		"twice":                {text: good + good, wrong: []string{`f:2: user "a" comes twice`}},
		"few iterations":       {text: strings.Replace(good, "4096", "4095", 1), wrong: []string{"f:1: ", "iterations"}},
		"many iterations":      {text: strings.Replace(good, "4096", "10000001", 1), wrong: []string{"iterations"}},
		"iterations, no digit": {text: strings.Replace(good, "4096", "x", 1), wrong: []string{"iterations"}},
		"no salt":              {text: strings.Replace(good, salt16, "", 1), wrong: []string{"base64"}},
		"short key":            {text: strings.Replace(good, key32, salt16, 1), wrong: []string{"base64"}},
		"not base64":           {text: strings.Replace(good, key32, key32[1:], 1), wrong: []string{"base64"}},
		"one key":              {text: strings.Replace(good, ":"+key32, "", 1), wrong: []string{"not a SCRAM"}},
		"all findings at once": {text: "x\n" + good + `"b" "secret!"`, wrong: []string{"f:1: ", "f:3: "}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			users, err := ParseUsers("f", c.text)
			if (err != nil) != (c.wrong != nil) {
				t.Fatalf("got %v, want %q", err, c.wrong)
			}
			if err != nil {
				for _, want := range c.wrong {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("got %v, want %q", err, want)
					}
				}
				for _, secret := range []string{"secret!", "md5abcdef", key32} {
					if strings.Contains(err.Error(), secret) {
						t.Errorf("the error repeats %q", secret)
					}
				}
				return
			}
			if len(users) != len(c.names) {
				t.Errorf("got %d users", len(users))
			}
			for _, n := range c.names {
				if u := users[n]; u.Iters != 4096 || u.Salt != strings.Repeat("s", 16) || string(u.StoredKey) != strings.Repeat("k", 32) || string(u.ServerKey) != strings.Repeat("k", 32) {
					t.Errorf("user %q: %+v", n, u)
				}
			}
		})
	}
}

func TestReadUsers(t *testing.T) {
	if _, err := ReadUsers(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("read a file that does not exist")
	}
}

// usersOf has PostgreSQL make the verifiers of users with passwords, as an administrator would copy them.
func usersOf(t *testing.T, passwords map[string]string) Users {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), cluster(t).DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var file strings.Builder
	for name, password := range passwords {
		for _, sql := range []string{"SET password_encryption = 'scram-sha-256'", "DROP ROLE IF EXISTS scratch", "CREATE ROLE scratch PASSWORD '" + password + "'"} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		var verifier string
		if err := conn.QueryRow(t.Context(), "SELECT rolpassword FROM pg_authid WHERE rolname = 'scratch'").Scan(&verifier); err != nil {
			t.Fatal(err)
		}
		file.WriteString(`"` + strings.ReplaceAll(name, `"`, `""`) + `" "` + verifier + "\"\n")
	}
	path := filepath.Join(t.TempDir(), "users.txt")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	users, err := ReadUsers(path)
	if err != nil {
		t.Fatal(err)
	}
	return users
}
