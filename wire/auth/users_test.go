package auth

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xdg-go/scram"
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
		"empty":               {},
		"one":                 {text: good, names: []string{"a"}},
		"no newline at end":   {text: strings.TrimSpace(good), names: []string{"a"}},
		"Windows line ends":   {text: strings.ReplaceAll(good, "\n", "\r\n"), names: []string{"a"}},
		"comments and blanks": {text: "; c\n# c\n\n  \t\n" + good, names: []string{"a"}},
		"quotes in the name":  {text: `"a""b" "` + goodVerifier + `"`, names: []string{`a"b`}},
		"spaces in the name":  {text: `"a b"	"` + goodVerifier + `"`, names: []string{"a b"}},
		"no quotes":           {text: "a b", wrong: []string{"f:1: a line is"}},
		"name alone":          {text: `"a"`, wrong: []string{"f:1: a line is"}},
		"empty name":          {text: `"" "` + goodVerifier + `"`, wrong: []string{"f:1: a line is"}},
		"something behind":    {text: strings.TrimSpace(good) + " x", wrong: []string{"f:1: a line is"}},
		"plain password":      {text: `"a" "secret!"`, wrong: []string{`f:1: user "a": not a SCRAM`}},
		"md5":                 {text: `"a" "md5abcdef"`, wrong: []string{`f:1: user "a": not a SCRAM`}},
		"twice":               {text: good + good, wrong: []string{`f:2: user "a" comes twice`}},
		"few iterations": {text: strings.Replace(good, "4096", "4095", 1),
			wrong: []string{"f:1: ", "iterations"}},
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
				findings(t, err, c.wrong)
				return
			}
			if len(users) != len(c.names) {
				t.Errorf("got %d users", len(users))
			}
			for _, n := range c.names {
				if u := users[n]; u.Iters != 4096 || u.Salt != strings.Repeat("s", 16) ||
					string(u.StoredKey) != strings.Repeat("k", 32) || string(u.ServerKey) != strings.Repeat("k", 32) {
					t.Errorf("user %q: %+v", n, u)
				}
			}
		})
	}
}

// findings checks that an error says what is wrong, and nothing of what is secret.
func findings(t *testing.T, err error, wrong []string) {
	t.Helper()
	for _, want := range wrong {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for _, secret := range []string{"secret!", "md5abcdef", key32} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error repeats %q", secret)
		}
	}
}

func TestReadUsers(t *testing.T) {
	if _, err := ReadUsers(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("read a file that does not exist")
	}
}

func TestCertificateNames(t *testing.T) {
	names, err := ParseNames("f",
		"# who is who\n\"alice@example.com\" \"alice\"\n\"robot\" \"alice\"\n\"robot\" \"b\"\"ob\"\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cert, user string
		is         bool
	}{{"alice@example.com", "alice", true}, {"robot", "alice", true}, {"robot", `b"ob`, true},
		{"alice", "alice", false}, {"Robot", "alice", false}, {"robot", "robot", false}} {
		if names.are(c.cert, c.user) != c.is {
			t.Errorf("%s is %s: %v", c.cert, c.user, !c.is)
		}
	}
	if !Names(nil).are("x", "x") || Names(nil).are("x", "y") || (Names{}).are("x", "x") {
		t.Error("without a file each name is its own user; in an empty one there is none")
	}
	_, err = ParseNames("f", "x\n\"a\" \"\"\n\"a\" \""+strings.Repeat("u", 64)+"\"\n")
	if err == nil || strings.Count(err.Error(), "\n") != 2 || !slices.ContainsFunc(strings.Split(err.Error(), "\n"),
		func(l string) bool { return strings.HasPrefix(l, "f:3: ") }) {
		t.Errorf("got %v", err)
	}
}

// What is made of a password reads back as a verifier, and no two are alike.
func TestNewVerifier(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		text, err := NewVerifier("s3cret")
		if err != nil || seen[text] || strings.Contains(text, "s3cret") {
			t.Fatalf("got %q, %v", text, err)
		}
		seen[text] = true
		if c, err := verifier(text); err != nil || c.Iters != iterations || len(c.Salt) != 16 {
			t.Errorf("%s: %v", text, err)
		}
	}
	if text, err := NewVerifier("a\u0007b"); err == nil {
		t.Errorf("a bell in a password: %s", text)
	}
}

// One name of a certificate may be several users, and one user have several certificates.
func TestReadNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "names")
	if err := os.WriteFile(path, []byte("\"cn\" \"alice\"\n\"cn\" \"bob\"\n\"other\" \"alice\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	names, err := ReadNames(path)
	if err != nil || !slices.Equal(names["cn"], []string{"alice", "bob"}) ||
		!slices.Equal(names["other"], []string{"alice"}) {
		t.Errorf("got %v, %v", names, err)
	}
	if names, err := ReadNames(path + ".gone"); err == nil {
		t.Errorf("got %v of no file", names)
	}
}

// Where no secret is kept, one is made of the users: the same at each start and on every proxy with the same users, and
// another for other verifiers, of which it shows none.
func TestSecretOfUsers(t *testing.T) {
	users := func(key byte, names ...string) Users {
		out := Users{}
		for _, name := range names {
			out[name] = scram.StoredCredentials{ServerKey: bytes.Repeat([]byte{key + name[0]}, 32)}
		}
		return out
	}
	// Of nine users an order that is not the names' would show but for one time in 362,880.
	names := strings.Split("a b c d e f g h i", " ")
	one := users('k', names...).Secret()
	if again := users('k', names...).Secret(); len(one) != 32 || !bytes.Equal(one, again) {
		t.Errorf("%x and %x of the same users", one, again)
	}
	for name, other := range map[string]Users{"a user less": users('k', names[1:]...),
		"other verifiers": users('l', names...)} {
		if bytes.Equal(one, other.Secret()) {
			t.Errorf("%s: the same secret", name)
		}
	}
}
