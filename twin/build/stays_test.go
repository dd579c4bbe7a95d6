package build_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"fugu/ledger"
	"fugu/test/patient"
	"fugu/twin/build"
)

// drawnRows are the rows that the shop's twin has, and how often each stands, by the key of the order of drawing that
// the seed below gives. Twins that were published were drawn by it: another order would draw rows independently of
// theirs, and the two together show the secret. Never change this value.
const drawnRows = "e3e899a9b415ba11c87316829fa382b6"

// drawnOf is the digest of the shop's rows by class that the ledger keeps. Were it another, the rows of every table
// whose twin was built by an earlier version would seem to have changed.
const drawnOf = "36dfb272a238cacacdd1fc4e4ee9c20b1967dec283957279178fd430283d323b"

// laidRows are the new keys of the rows. Another order would show nothing, but the keys that analysts have kept would
// be those of other rows.
const laidRows = "8310db28217909df24636eb56e033527"

// The order of drawing, who stands once more, what the ledger knows the rows by, and new keys are what they were in
// every version.
func TestOrderOfDrawingStays(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "stays", shop, richPolicy)
	w.keeper.Random = rand.NewChaCha8([32]byte{7})
	w.build(build.Options{})
	const shows = `SELECT md5(string_agg(mail || ' ' || n, ',' ORDER BY mail COLLATE "C"))
		FROM (SELECT mail, count(*) n FROM fugu_twin.customer GROUP BY mail) x`
	if got := w.one(shows); got != drawnRows {
		t.Errorf("%s, and it was %s", got, drawnRows)
	}
	const laid = `SELECT md5(string_agg(mail, ',' ORDER BY id)) FROM fugu_twin.customer`
	if got := w.one(laid); got != laidRows {
		t.Errorf("laid as %s, and it was %s", got, laidRows)
	}

	words, _ := json.Marshal([]any{ledger.Twin, "public", "customer", 1})
	key := sha256.Sum256(words)
	a, ok, err := w.ledger.Find(t.Context(), ledger.Key(hex.EncodeToString(key[:])))
	if err != nil || !ok {
		t.Fatalf("the draw is not in the ledger: %v", err)
	}
	var draw build.Draw
	if err := json.Unmarshal(a.Bytes, &draw); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(draw.Contents); got != drawnOf {
		t.Errorf("drawn of %s, and it was %s", got, drawnOf)
	}
}
