package adult

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// The verifiers of users.txt are those of the passwords in README.md, by RFC 5802 section 3.
func TestUsers(t *testing.T) {
	data, err := os.ReadFile("users.txt")
	if err != nil {
		t.Fatal(err)
	}
	if twin, err := os.ReadFile("../adult-twin/users.txt"); err != nil || string(twin) != string(data) {
		t.Errorf("adult-twin has other users (%v)", err)
	}

	line := regexp.MustCompile(`(?m)^"(\w+)" "SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):([^"]+)"$`)
	var users []string
	for _, l := range line.FindAllStringSubmatch(string(data), -1) {
		user := l[1]
		users = append(users, user)
		iterations, err := strconv.Atoi(l[2])
		if err != nil {
			t.Fatal(err)
		}
		salt, err := base64.StdEncoding.DecodeString(l[3])
		if err != nil {
			t.Fatal(err)
		}
		salted, err := pbkdf2.Key(sha256.New, user+"-demo", salt, iterations, sha256.Size)
		if err != nil {
			t.Fatal(err)
		}

		key := func(name string) []byte {
			h := hmac.New(sha256.New, salted)
			h.Write([]byte(name))
			return h.Sum(nil)
		}
		stored := sha256.Sum256(key("Client Key"))
		if got := base64.StdEncoding.EncodeToString(stored[:]); got != l[4] {
			t.Errorf("%s: StoredKey is %s, want %s", user, l[4], got)
		}
		if got := base64.StdEncoding.EncodeToString(key("Server Key")); got != l[5] {
			t.Errorf("%s: ServerKey is %s, want %s", user, l[5], got)
		}
	}
	if fmt.Sprint(users) != "[alice bob]" {
		t.Errorf("users are %v", users)
	}
}
