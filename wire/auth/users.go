package auth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xdg-go/scram"
)

// MaxName is what PostgreSQL cuts names of users and databases off at, in bytes (NAMEDATALEN - 1).
const MaxName = 63

// Users are the SCRAM verifiers of a users file, by user name.
type Users map[string]scram.StoredCredentials

// ReadUsers reads a users file: a line for each user, the name and the SCRAM verifier in double quotes, as PgBouncer's
// userlist and PostgreSQL's pg_authid have them. Empty lines and lines that start with ; or # are skipped.
func ReadUsers(path string) (Users, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading users: %w", err)
	}
	return ParseUsers(path, string(text))
}

// ParseUsers reads the text of a users file; every finding comes with its line, and all come together.
func ParseUsers(path, text string) (Users, error) {
	users := Users{}
	err := pairs(path, text, `a line is "name" "SCRAM-SHA-256$..."`, func(name, secret string) error {
		c, err := verifier(secret)
		if err != nil {
			return fmt.Errorf("user %q: %w", name, err)
		}
		if err := userName(name); err != nil {
			return err
		}
		if _, twice := users[name]; twice {
			return fmt.Errorf("user %q comes twice", name)
		}
		users[name] = c
		return nil
	})
	return users, err
}

// ReadNames reads a file that says which users the common names of client certificates may be: lines of two names in
// double quotes, the common name's first. Either may come more than once.
func ReadNames(path string) (Names, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading names of certificates: %w", err)
	}
	return ParseNames(path, string(text))
}

// ParseNames reads the text of a file of names; every finding comes with its line, and all come together.
func ParseNames(path, text string) (Names, error) {
	names := Names{}
	err := pairs(path, text, `a line is "common name" "user"`, func(cert, user string) error {
		if err := userName(user); err != nil {
			return err
		}
		names[cert] = append(names[cert], user)
		return nil
	})
	return names, err
}

// userName says what is wrong with a name that no startup packet could have.
func userName(name string) error {
	if len(name) > MaxName || !utf8.ValidString(name) || name == "" {
		return fmt.Errorf("user %q: a name has up to %d bytes of UTF-8", name, MaxName)
	}
	return nil
}

var pairLine = regexp.MustCompile(`^"((?:[^"]|"")+)"\s+"((?:[^"]|"")*)"$`)

// pairs reads lines of two texts in double quotes, in which a double quote is written twice. Empty lines and lines that
// start with ; or # are skipped.
func pairs(path, text, form string, use func(first, second string) error) error {
	var findings []error
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == ';' || line[0] == '#' {
			continue
		}
		m := pairLine.FindStringSubmatch(line)
		if m == nil {
			findings = append(findings, fmt.Errorf("%s:%d: %s", path, i+1, form))
			continue
		}
		if err := use(strings.ReplaceAll(m[1], `""`, `"`), strings.ReplaceAll(m[2], `""`, `"`)); err != nil {
			findings = append(findings, fmt.Errorf("%s:%d: %w", path, i+1, err))
		}
	}
	return errors.Join(findings...)
}

// verifier reads SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey (manual, "pg_authid"). Errors do not repeat it.
func verifier(s string) (scram.StoredCredentials, error) {
	var c scram.StoredCredentials
	rest, ok := strings.CutPrefix(s, "SCRAM-SHA-256$")
	factors, keys, ok2 := strings.Cut(rest, "$")
	iterations, salt, ok3 := strings.Cut(factors, ":")
	stored, server, ok4 := strings.Cut(keys, ":")

	if !ok || !ok2 || !ok3 || !ok4 {
		return c, errors.New("not a SCRAM-SHA-256 verifier: copy rolpassword from pg_authid")
	}
	n, err := strconv.Atoi(iterations)
	if err != nil || n < 4096 || n > 10_000_000 {
		return c, errors.New("the number of iterations must be from 4096 to 10000000")
	}

	// An error of any part is the error of the whole, and does not say which.
	decode := func(text string, size int) []byte {
		b, e := base64.StdEncoding.Strict().DecodeString(text)
		if e != nil || size > 0 && len(b) != size || len(b) == 0 {
			err = errors.New("salt or keys are not base64 of the right length")
		}
		return b
	}

	c.Salt, c.Iters = string(decode(salt, 0)), n
	c.StoredKey, c.ServerKey = decode(stored, 32), decode(server, 32)
	return c, err
}
