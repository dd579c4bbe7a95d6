package auth

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/xdg-go/scram"
)

// iterations of the verifiers that are made here: PostgreSQL's own number.
const iterations = 4096

// NewVerifier makes the SCRAM-SHA-256 verifier of a password, with a salt of its own, as PostgreSQL writes it into
// pg_authid. The password is prepared as SASLprep has it (RFC 4013); one that cannot be is an error.
func NewVerifier(password string) (string, error) {
	client, err := scram.SHA256.NewClient("", password, "")
	if err != nil {
		return "", fmt.Errorf("this password cannot be used: %w", err)
	}
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("making a salt: %w", err)
	}
	c, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: iterations})
	if err != nil {
		return "", fmt.Errorf("this password cannot be used: %w", err)
	}
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, b64(salt), b64(c.StoredKey), b64(c.ServerKey)), nil
}
