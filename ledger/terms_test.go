package ledger

import (
	"bytes"
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"fugu/privacy"
)

// joint is a charge that counts with the answers up to after.
func joint(n any, after int64) Charge {
	return with(charge(n), func(c *Charge) { c.Terms, c.After = []byte("terms of 38.64159"), &after })
}

func TestHistoryIsWhatWasCharged(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for name, o := range map[string]Options{"open": {}, "sealed": {Key: lock32(1)}} {
			if p.remote() { // a ledger has one key
				p = inDatabase(t)
			} else {
				p = inFile(t)
			}
			l := p.open(t, o)
			a := must(t, l, joint(1, 0))
			failed := must(t, l, with(charge(2), func(c *Charge) { c.Failed, c.Answer, c.Cells = true, nil, nil }))
			must(t, l, with(charge(3), func(c *Charge) { c.Dataset = "other" }))
			b := must(t, l, charge(4))
			closeLedger(t, l)
			l = p.open(t, o)
			all, err := l.History(t.Context(), "adult", 0)
			want := []Past{{ID: a.ID, Terms: []byte("terms of 38.64159")},
				{ID: failed.ID, Failed: true, Losses: charge(2).Losses},
				{ID: b.ID, Losses: charge(4).Losses, Values: len(charge(4).Cells)}}
			if err != nil || !reflect.DeepEqual(all, want) {
				t.Errorf("%s: %+v %v, want %+v", name, all, err, want)
			}
			if rest, err := l.History(t.Context(), "adult", a.ID); err != nil || !reflect.DeepEqual(rest, want[1:]) {
				t.Errorf("%s: behind the first %+v %v", name, rest, err)
			}
			var kept []byte
			if err := l.read.QueryRow(`SELECT bytes FROM terms`).Scan(&kept); err != nil ||
				bytes.Contains(kept, []byte("38.6")) != (o.Key == nil) {
				t.Errorf("%s: kept %q, %v", name, kept, err)
			}
			if entries, _ := told(t, l); len(entries[1].Terms) != 64 || entries[3].Terms != "" {
				t.Errorf("%s: in the chain %+v", name, entries)
			}
		}
	})
}

// What a charge costs may depend on all that came before it: then nothing may have come between.
func TestOvertakenChargeIsNotBooked(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		a := must(t, l, joint(1, 0))
		for name, after := range map[string]int64{"nothing": 0, "an answer to come": a.ID + 1} {
			if _, err := l.Charge(t.Context(), joint(2, after)); !errors.Is(err, ErrOvertaken) {
				t.Errorf("counting with %s: %v", name, err)
			}
		}
		if got := spent(t, l, ""); got[0].Releases != 1 {
			t.Errorf("booked: %+v", got)
		}
		if again := must(t, l, joint(1, 0)); again.ID != a.ID || again.Fresh {
			t.Errorf("an answer that was given: %+v", again)
		}
		must(t, l, with(charge(3), func(c *Charge) { c.Dataset = "other" })) // counts for nobody else
		must(t, l, joint(2, a.ID))
	})
}

// Of charges that count with the same answers one is booked, whichever process it is of.
func TestRaceOfJointCharges(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		stores := handles(t, p, 4)
		var booked, overtaken atomic.Int64
		after := int64(0)
		for range 5 {
			booked.Store(0)
			overtaken.Store(0)
			together(func(i int) {
				a, err := stores[i%len(stores)].Charge(context.Background(),
					with(joint([2]int{int(after), i}, after), func(c *Charge) {
						c.Losses = map[string]privacy.Loss{"income": {Pure: .01}}
					}))
				switch {
				case errors.Is(err, ErrOvertaken):
					overtaken.Add(1)
				case err != nil:
					t.Error(err)
				default:
					booked.Store(a.ID)
				}
			})
			if overtaken.Load() == 0 || booked.Load() <= after {
				t.Fatalf("behind %d: booked %d, %d overtaken", after, booked.Load(), overtaken.Load())
			}
			after = booked.Load()
		}
		if got := spent(t, stores[0], ""); got[0].Releases != 5 {
			t.Errorf("%+v", got)
		}
	})
}

// What later charges count with cannot be changed unseen.
func TestAuditFindsChangedTerms(t *testing.T) {
	for name, statement := range map[string]string{
		"changed":  `UPDATE terms SET bytes = substr(bytes, 2)`,
		"left out": `DELETE FROM terms WHERE answer = 1`,
		"exchanged": `UPDATE terms SET answer = 9 WHERE answer = 1; UPDATE terms SET answer = 1 WHERE answer = 2;
			UPDATE terms SET answer = 2 WHERE answer = 9`,
		"added": `INSERT INTO terms SELECT 3, bytes, sealed FROM terms WHERE answer = 1`,
	} {
		fill := func(p place) {
			l := p.open(t, Options{})
			must(t, l, joint(1, 0))
			must(t, l, with(joint(2, 1), func(c *Charge) { c.Terms = []byte("others") }))
			must(t, l, charge(3))
			closeLedger(t, l)
		}
		look := func(p place) error {
			l, err := Open(t.Context(), string(p), Options{ReadOnly: true})
			if err != nil {
				return err
			}
			defer closeLedger(t, l)
			_, err = l.Audit(t.Context(), nil)
			return err
		}
		p := inFile(t)
		fill(p)
		path := strings.TrimPrefix(string(p), "sqlite:")
		if err := look(p); err != nil {
			t.Fatal(err)
		}
		raw(t, path, `DROP TRIGGER terms_stay; DROP TRIGGER terms_fixed; PRAGMA foreign_keys = 0;`+statement)
		if look(p) == nil {
			t.Errorf("SQLite, %s: not found", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		p = inDatabase(t)
		fill(p)
		if err := as(t, "postgres", p, `SET session_replication_role = replica`, statement); err != nil {
			t.Fatal(err)
		}
		if look(p) == nil {
			t.Errorf("PostgreSQL, %s: not found", name)
		}
	}
}

// Terms that cannot be opened are no answer without terms, which later ones would count with by its losses alone: the
// account would take an answer for another that tells less.
func TestHistoryOfDamagedTerms(t *testing.T) {
	for name, spoil := range map[string]string{
		"changed": `UPDATE terms SET bytes = CAST(substr(bytes, 1, 20) || x'00' || substr(bytes, 22) AS BLOB)`,
		"too few": `UPDATE terms SET bytes = x'00'`,
	} {
		p, o := inFile(t), Options{Key: lock32(1)}
		l := p.open(t, o)
		must(t, l, joint(1, 0))
		closeLedger(t, l)
		raw(t, strings.TrimPrefix(string(p), "sqlite:"), `DROP TRIGGER terms_stay; DROP TRIGGER terms_fixed;`+spoil)
		l = p.open(t, o)
		if past, err := l.History(t.Context(), "adult", 0); !errors.Is(err, errKey) || past != nil {
			t.Errorf("%s: %+v, %v", name, past, err)
		}
		if _, err := l.Audit(t.Context(), nil); !errors.Is(err, errKey) {
			t.Errorf("%s: an audit: %v", name, err)
		}
	}
}
