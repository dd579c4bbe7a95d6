package auth

import (
	"testing"
	"unicode/utf8"
)

func FuzzUsers(f *testing.F) {
	f.Add(`"a" "` + goodVerifier + "\"\n; comment\n")
	f.Add(`"a""b"	"` + goodVerifier + `"`)
	f.Add(`"" "SCRAM-SHA-256$4096:$:"`)
	f.Fuzz(func(t *testing.T, text string) {
		users, err := ParseUsers("f", text)
		if err != nil {
			return
		}
		for name, u := range users {
			if name == "" || u.Iters < 4096 || len(u.Salt) == 0 || len(u.StoredKey) != 32 || len(u.ServerKey) != 32 {
				t.Errorf("accepted user %q with %d iterations and keys of %d and %d bytes", name, u.Iters,
					len(u.StoredKey), len(u.ServerKey))
			}
		}
	})
}

func FuzzNames(f *testing.F) {
	f.Add(`"cn" "a"` + "\n; comment\n" + `"c""n"	"b"`)
	f.Add(`"" ""`)
	f.Fuzz(func(t *testing.T, text string) {
		names, err := ParseNames("f", text)
		for cert, users := range names {
			for _, u := range users {
				if err == nil && (cert == "" || u == "" || len(u) > MaxName || !utf8.ValidString(u)) {
					t.Errorf("accepted %q as %q", cert, u)
				}
			}
		}
	})
}
