package reuse

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fugu/ledger"
	"fugu/policy"
	"fugu/quote"
	"fugu/test/patient"
	"fugu/test/town"
)

// What estimates take from the past is what was paid for, of the data and the policy of now, about one of the vectors,
// newest first.
func TestWhoseAnswersAreWitnesses(t *testing.T) {
	patient.Test(t)
	a := asker{t, town.Build(t, "witnesses")}
	b, vectors := a.told(), map[string]int{"v1": 0}

	for name, c := range map[string]struct {
		epoch int64
		edit  func(*book, *policy.Policy)
		want  []int64
	}{
		"as it is":         {0, func(*book, *policy.Policy) {}, []int64{3, 1}},
		"nobody has paid":  {0, func(b *book, _ *policy.Policy) { b.unpaid = true }, nil},
		"of another epoch": {1, func(*book, *policy.Policy) {}, nil},
		"another policy":   {0, func(_ *book, p *policy.Policy) { p.Fingerprint = "of another one" }, nil},
	} {
		b, p := *b, *a.Policy
		c.edit(&b, &p)
		witnesses, err := new(Past).Witnesses(t.Context(), &b, &p, c.epoch, vectors)
		var got []int64
		for _, w := range witnesses {
			if got = append(got, w.ID); len(w.Values) != len(w.Evidence.Vectors) {
				t.Errorf("%s: %d values of %d vectors", name, len(w.Values), len(w.Evidence.Vectors))
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v: %v", name, got, c.want, err)
		}
	}

	// What is about more values than there are, or has another law, is no witness.
	text := string(b.given[0].Bytes)
	for _, edit := range [][2]string{{`"Vectors":[`, `"Vectors":["more",`}, {`"Own":[`, `"Own":[{},`}} {
		edited := strings.Replace(text, edit[0], edit[1], 1)
		if edited == text {
			t.Fatalf("%s is not in %s", edit[0], text)
		}
		if _, ok := readGiven(ledger.Given{ID: 1, Bytes: []byte(edited)}); ok {
			t.Errorf("%s for %s is a witness", edit[1], edit[0])
		}
	}
}

// told is what three statements have told, of which the first and the last are about the same vectors.
func (a asker) told() *book {
	b, random := &book{}, rand.NewChaCha8([32]byte{7})
	for _, c := range []struct {
		sql    string
		vector string
	}{{byCity, "v"}, {bySex, "other"}, {byCity, "v"}} {
		s := a.source(c.sql, .5)
		release, err := s.Calibration.Noise.Release(random, s.statistics)
		if err != nil {
			a.Fatal(err)
		}
		names := make([]string, release.Len())
		for k := range names {
			names[k] = c.vector + strconv.Itoa(k)
		}
		bytes, err := release.MarshalBinary()
		if err != nil {
			a.Fatal(err)
		}
		stored, err := quote.Stored{Release: bytes, Evidence: &quote.Evidence{Policy: a.Policy.Fingerprint,
			Law: s.Calibration.Noise.Law(), Vectors: names}}.Encode()
		if err != nil {
			a.Fatal(err)
		}
		id := int64(len(b.given) + 1)
		b.given = append(b.given, ledger.Given{ID: id, Key: ledger.Key(strconv.FormatInt(id, 10)), Bytes: stored})
	}
	return b
}
