package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/xdg-go/scram"
)

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

var userLine = regexp.MustCompile(`^"((?:[^"]|"")+)"\s+"([^"]*)"$`)

// ParseUsers reads the text of a users file; every finding comes with its line, and all come together.
func ParseUsers(path, text string) (Users, error) {
	users := Users{}
	var findings []error
	for i, line := range strings.Split(text, "\n") {
		bad := func(format string, args ...any) {
			findings = append(findings, fmt.Errorf("%s:%d: %s", path, i+1, fmt.Sprintf(format, args...)))
		}
		line = strings.TrimSpace(line)
		if line == "" || line[0] == ';' || line[0] == '#' {
			continue
		}
		m := userLine.FindStringSubmatch(line)
		if m == nil {
			bad(`a line is "name" "SCRAM-SHA-256$..."`)
			continue
		}
		name := strings.ReplaceAll(m[1], `""`, `"`)
		c, err := verifier(m[2])
		if err != nil {
			bad("user %q: %v", name, err)
			continue
		}
		if _, twice := users[name]; twice {
			bad("user %q comes twice", name)
		}
		users[name] = c
	}
	return users, errors.Join(findings...)
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
