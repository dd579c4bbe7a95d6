package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
)

// leastToken is how many characters a token has at the least: 16 random bytes in hexadecimal digits.
const leastToken = 32

// Token is what operators have to know. It keeps a hash alone. nil: there is none, and nobody is admitted.
type Token struct {
	path string
	sum  atomic.Pointer[[sha256.Size]byte]
}

// ReadToken reads a token from a file that nobody but its owner may read.
func ReadToken(path string) (*Token, error) {
	t := &Token{path: path}
	return t, t.Reload()
}

// Reload reads the file again. If anything is wrong with it, the token that was read before stands. Of nil there is
// nothing to read.
func (t *Token) Reload() error {
	if t == nil {
		return nil
	}

	// A token that others can read protects nothing.
	info, err := os.Stat(t.path)
	if err != nil {
		return fmt.Errorf("reading admin_token: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return fmt.Errorf("reading admin_token: others may read %s (mode %04o): chmod 600 it", t.path, mode.Perm())
	}

	text, err := os.ReadFile(t.path)
	if err != nil {
		return fmt.Errorf("reading admin_token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken || strings.ContainsAny(token, " \t\r\n") {
		return fmt.Errorf("reading admin_token: %s does not hold one word of %d characters or more; make one with: "+
			"openssl rand -hex 32", t.path, leastToken)
	}

	// Requests are compared with the hash, which takes the same time for every token.
	sum := sha256.Sum256([]byte(token))
	t.sum.Store(&sum)
	return nil
}

// admits reports whether a request has the token.
func (t *Token) admits(r *http.Request) bool {
	if t == nil {
		return false
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return t.knows(strings.TrimSpace(token)) && strings.EqualFold(scheme, "bearer")
}

// knows reports whether a text is the token.
func (t *Token) knows(given string) bool {
	if t == nil {
		return false
	}
	// Hashes are compared, and all of them: how long it takes says nothing about the token.
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], t.sum.Load()[:]) == 1
}

// guard lets requests through that have the token.
func (t *Token) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case t == nil:
			write(w, http.StatusForbidden, "admin_token is not set in fugu.yaml, so this page is shown to nobody\n")
		case !t.admits(r):
			w.Header().Set("WWW-Authenticate", `Bearer realm="fugu"`)
			write(w, http.StatusUnauthorized, "this page needs the token of admin_token: Authorization: Bearer TOKEN\n")
		default:
			next.ServeHTTP(w, r)
		}
	})
}
