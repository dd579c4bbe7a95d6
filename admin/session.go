package admin

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A session of the console's lasts so long, and is kept by the browser alone: an end in the future, and a code of it
// that only who knows the token's hash can make. So nothing is stored, a successor of the proxy knows the sessions of
// before, and another token ends them all.
const (
	sessionName = "fugu_console"
	sessionTime = 8 * time.Hour
	sessionPath = "/console"
)

// Begin starts a session of a browser whose user gave the token, and reports whether it was the token.
func (t *Token) Begin(w http.ResponseWriter, r *http.Request, given string) bool {
	if !t.knows(strings.TrimSpace(given)) {
		return false
	}
	end := strconv.FormatInt(time.Now().Add(sessionTime).Unix(), 10)
	http.SetCookie(w, sessionCookie(r, end+"."+t.code(end), int(sessionTime.Seconds())))
	return true
}

// End has a browser forget its session.
func (t *Token) End(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, sessionCookie(r, "", -1))
}

// Admits reports whether a request has the token, or a session that was begun with it and has not ended.
func (t *Token) Admits(r *http.Request) bool {
	if t.admits(r) {
		return true
	}
	cookie, err := r.Cookie(sessionName)
	if t == nil || err != nil {
		return false
	}
	end, code, _ := strings.Cut(cookie.Value, ".")
	if subtle.ConstantTimeCompare([]byte(code), []byte(t.code(end))) != 1 {
		return false
	}
	until, err := strconv.ParseInt(end, 10, 64)
	return err == nil && time.Now().Unix() < until
}

// sessionCookie is not shown to scripts, not sent along from other sites, and over TLS never sent in the clear.
func sessionCookie(r *http.Request, value string, seconds int) *http.Cookie {
	return &http.Cookie{Name: sessionName, Value: value, Path: sessionPath, MaxAge: seconds, HttpOnly: true,
		Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode}
}

// code is what only who knows the token's hash can say of the end of a session.
func (t *Token) code(end string) string {
	mac := hmac.New(sha256.New, t.sum.Load()[:])
	mac.Write([]byte("a session of the console until " + end))
	return hex.EncodeToString(mac.Sum(nil))
}
