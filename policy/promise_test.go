package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

// What a policy's noise promises does not depend on how its file lists things, and depends on all that decides which
// pairs are hidden: also on the values of a column whose proportions are secret, and on the network of a parameter.
func TestNoisePromises(t *testing.T) {
	const text = `version: 1
dataset: d
tables:
  public.a: {rows: 100, reference: public.b, group_by: {c: [x, y, z]}}
secrets:
  s: {table: public.a, categories: c, pairs: [[{x: 0.2, y: 0.8}, {x: 0.3, y: 0.7}]]}
  r: {table: public.a, categories: c, values: {from: 0, to: 1, within: 0.1}}
assume: [translation]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 10, delta: 0.01}}
`
	promise := func(values string, changes ...string) *Promise {
		t.Helper()
		changed := strings.NewReplacer(changes...).Replace(text)
		p, err := Parse("p.yaml", []byte(changed))
		if err != nil {
			t.Fatal(err)
		}
		out := p.NoisePromise(QualifiedName{"public", "a"}, func(string) (all []Value) {
			for _, v := range strings.Fields(values) {
				all = append(all, Value{Text: v})
			}
			return all
		})

		// What a ledger keeps of it is the same.
		kept, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if out, err = ReadPromise(kept); err != nil {
			t.Fatal(err)
		}
		return out
	}
	same := func(own, other Secret) bool { return own.Categories == other.Categories }

	first := promise("x y z")
	for name, c := range map[string]struct {
		other *Promise
		want  string
	}{
		"in another order": {promise("z y x", "[{x: 0.2, y: 0.8}, {x: 0.3, y: 0.7}]",
			"[{y: 0.7, x: 0.3, z: 0}, {y: 0.8, x: 0.2}]"), ""},
		"another value of the column": {promise("x y z w"), "r: its column had other values"},
		"another pair": {promise("x y z", "0.3, y: 0.7", "0.4, y: 0.6"),
			"s: it had 1 pairs of vectors, and has 1 pairs of vectors"},
		"a wider range": {promise("x y z", "within: 0.1", "within: 0.2"),
			"r: it had proportions 0 to 1 within 0.1, and has proportions 0 to 1 within 0.2"},
	} {
		var got []string
		for _, gap := range first.Lacks(c.other, same) {
			got = append(got, gap.Secret+": "+gap.What)
		}
		if strings.Join(got, ", ") != c.want || first.Covers(c.other, same) != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A parameter is hidden by the network that it was hidden by, and nothing is read out of what a later version wrote.
func TestPromisedNetworks(t *testing.T) {
	secret := Secret{Name: "s", Parameter: "p"}
	network := func(text string) *Promise {
		return &Promise{Secrets: []Secret{secret}, Network: json.RawMessage(text)}
	}
	all := func(Secret, Secret) bool { return true }
	if network(`{}`).Covers(network(`{"a":1}`), all) || !network(`{}`).Covers(network(`{}`), all) {
		t.Error("networks are not compared")
	}
	if _, err := ReadPromise([]byte(`{"secrets":[],"unless":"it rains"}`)); err == nil {
		t.Error("a field of a later version is passed over")
	}
}

// What everybody knows is the same for all answers of a total: noise hides nothing from who knows more than was counted
// with, and nobody forgets what was told exactly. Of a promise that does not say it nothing is taken.
func TestPromisesOfWhatIsPublic(t *testing.T) {
	public := func(statements ...string) *Promise { return &Promise{Public: statements} }
	for _, c := range []struct {
		before, now *Promise
		want        string
	}{
		{public("a", "b"), public("a", "b"), ""},
		{public("a"), public("a", "b"), `they hide nothing from who knows the values of "b", which are public by now`},
		{public("a", "b"), public("a"), `the values of "b" were public, and everybody knows them still`},
		{&Promise{}, public("a"), ""},
	} {
		// A ledger keeps that nothing is public, too.
		kept, err := json.Marshal(c.before)
		if err != nil {
			t.Fatal(err)
		}
		before, err := ReadPromise(kept)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, gap := range before.Lacks(c.now, nil) {
			got += gap.Secret + gap.What
		}
		if got != c.want || before.Covers(c.now, nil) != (c.want == "") {
			t.Errorf("%v, then %v: %q", c.before.Public, c.now.Public, got)
		}
	}
	none, _ := json.Marshal(&Promise{Public: []string{}})
	if p, err := ReadPromise(none); err != nil || p.Public == nil || len(p.Lacks(public("a"), nil)) != 1 {
		t.Errorf("what knew nothing public is kept as %s, %v", none, err)
	}
}
