package ledger

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"fugu/ledger/audit"
)

// KeyBytes is the length of Options.Key.
const KeyBytes = 32

// seal keeps answers and their cells from whoever reads the database without the key, and has the key of the audit
// chain. Without a key all is in the open.
type seal struct {
	aead   cipher.AEAD // AES-256-GCM with random nonces; nil: no key
	chain  audit.Chain
	digest []byte // key of content
}

var errKey = errors.New("it was written with another key, or none")

func newSeal(key []byte) (seal, error) {
	if key == nil {
		return seal{}, nil
	}
	if len(key) != KeyBytes {
		return seal{}, fmt.Errorf("a key of %d bytes, not %d", len(key), KeyBytes)
	}

	// A key for each use, so that what one of them lets out tells nothing about the others (RFC 5869).
	var derived [3][]byte
	for i, use := range []string{"answers", "audit chain", "digests"} {
		var err error
		if derived[i], err = hkdf.Key(sha256.New, key, nil, "fugu ledger: "+use, KeyBytes); err != nil {
			return seal{}, err
		}
	}

	block, err := aes.NewCipher(derived[0])
	if err != nil {
		return seal{}, err
	}
	aead, err := cipher.NewGCM(block)
	return seal{aead: aead, chain: audit.NewChain(derived[1]), digest: derived[2]}, err
}

// close seals a text of an answer; what it is, and of which, is authenticated with it.
func (s seal) close(plain []byte, what string, of Key) []byte {
	nonce := make([]byte, s.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails [crypto/rand]
	return s.aead.Seal(nonce, nonce, plain, []byte(what+" "+string(of)))
}

func (s seal) open(sealed []byte, what string, of Key) ([]byte, error) {
	if s.aead == nil || len(sealed) < s.aead.NonceSize() {
		return nil, errKey
	}
	n := s.aead.NonceSize()
	plain, err := s.aead.Open(nil, sealed[:n], sealed[n:], []byte(what+" "+string(of)))
	if err != nil {
		return nil, errKey
	}
	return plain, nil
}

// closed returns what stands in the columns bytes, cells and sealed.
func (s seal) closed(bytes []byte, cells string, of Key) ([]byte, string, int, error) {
	if s.aead == nil {
		return bytes, cells, 0, nil
	}
	if len(bytes) > 0 { // a failure has none
		bytes = s.close(bytes, "bytes", of)
	}
	text, err := json.Marshal(base64.StdEncoding.EncodeToString(s.close([]byte(cells), "cells", of)))
	return bytes, string(text), 1, err
}

// opened is the inverse of closed.
func (s seal) opened(bytes []byte, cells string, sealed int, of Key) ([]byte, string, error) {
	if sealed == 0 {
		return bytes, cells, nil
	}
	var text string
	if err := json.Unmarshal([]byte(cells), &text); err != nil {
		return nil, "", errKey
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, "", errKey
	}
	plain, err := s.open(raw, "cells", of)
	if err == nil && len(bytes) > 0 {
		bytes, err = s.open(bytes, "bytes", of)
	}
	return bytes, string(plain), err
}

// content is the digest of an answer's bytes and cells. With a key it takes one: noisy values are few enough to be
// guessed from a plain digest.
func (s seal) content(bytes []byte, cells string) string {
	h := sha256.New()
	if s.digest != nil {
		h = hmac.New(sha256.New, s.digest)
	}
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(bytes)))
	h.Write(n[:])
	h.Write(bytes)
	h.Write([]byte(cells))
	return hex.EncodeToString(h.Sum(nil))
}
