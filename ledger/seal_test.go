package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func lock32(b byte) []byte { return bytes.Repeat([]byte{b}, KeyBytes) }

// A sealed ledger gives back what it was given, shows none of it on disk, and opens with no other key.
func TestSealedLedger(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		o := Options{Key: lock32(1)}
		l := p.open(t, o)
		c := with(charge("sealed"), func(c *Charge) { c.Answer = []byte("the answer is 38.64159") })
		first := must(t, l, c)
		failure := with(charge("failure"), func(c *Charge) { c.Failed, c.Answer, c.Cells = true, nil, nil })
		must(t, l, failure)
		closeLedger(t, l)
		l = p.open(t, o)
		got, ok, err := l.Find(t.Context(), c.Key, "")
		if err != nil || !ok || string(got.Bytes) != "the answer is 38.64159" ||
			!reflect.DeepEqual(got.Cells, first.Cells) {
			t.Errorf("%+v %v %v", got, ok, err)
		}
		if got, ok, err := l.Find(t.Context(), failure.Key, ""); err != nil || !ok || !got.Failed {
			t.Errorf("%+v %v %v", got, ok, err)
		}
		if _, err := l.Audit(t.Context(), nil); err != nil {
			t.Error(err)
		}
		var kept []byte
		var cells string
		if err := l.read.QueryRow(`SELECT bytes, cells FROM answers WHERE failed = 0`).Scan(&kept, &cells); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(kept, []byte("38.6")) || strings.Contains(cells, "38.6") || strings.Contains(cells, "sex") {
			t.Errorf("in the open: %q %q", kept, cells)
		}
		for _, key := range [][]byte{nil, lock32(2), lock32(1)[1:]} {
			if l, err := Open(t.Context(), string(p), Options{Key: key, ReadOnly: true}); err == nil {
				_ = l.Close()
				t.Errorf("opened with the key %x", key)
			}
		}
	})
	p := inFile(t)
	l := p.open(t, Options{Key: lock32(1)})
	must(t, l, with(charge(1), func(c *Charge) { c.Answer = []byte("the answer is 38.64159") }))
	closeLedger(t, l)
	files, err := filepath.Glob(strings.TrimPrefix(string(p), "sqlite:") + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || bytes.Contains(b, []byte("38.6")) {
			t.Errorf("%s: in the open (%v)", f, err)
		}
	}
}

// A ledger that was begun in the open stays so: a key would promise what it does not keep.
func TestKeyComesFirst(t *testing.T) {
	p := inFile(t)
	closeLedger(t, p.open(t, Options{}))
	if l, err := Open(t.Context(), string(p), Options{Key: lock32(1)}); err == nil {
		_ = l.Close()
		t.Error("opened")
	} else if !strings.Contains(err.Error(), "another key") {
		t.Error(err)
	}
}

// What was sealed for one answer is not another's, and one bit more or less is found.
func TestSealIsOfOneAnswer(t *testing.T) {
	s, err := newSeal(lock32(1))
	if err != nil {
		t.Fatal(err)
	}
	b, cells, _, err := s.closed([]byte("answer"), "[]", key(1))
	if err != nil {
		t.Fatal(err)
	}
	if plain, _, err := s.opened(b, cells, 1, key(1)); err != nil || string(plain) != "answer" {
		t.Errorf("%q %v", plain, err)
	}
	spoiled := bytes.Clone(b)
	spoiled[len(b)/2] ^= 1
	for name, try := range map[string]func() error{
		"of another answer": func() error { _, _, err := s.opened(b, cells, 1, key(2)); return err },
		"spoiled":           func() error { _, _, err := s.opened(spoiled, cells, 1, key(1)); return err },
		"cut short":         func() error { _, _, err := s.opened(b[:5], cells, 1, key(1)); return err },
		"no seal":           func() error { _, _, err := s.opened(b, "[]", 1, key(1)); return err },
	} {
		if try() == nil {
			t.Errorf("opened: %s", name)
		}
	}
	// The same answer twice looks different.
	if again, _, _, _ := s.closed([]byte("answer"), "[]", key(1)); bytes.Equal(again, b) {
		t.Error("sealed alike twice")
	}
}
