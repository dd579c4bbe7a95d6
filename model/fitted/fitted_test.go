package fitted

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"fugu/planner"
)

var answers = [][]planner.Value{{{Text: "a\n\"\u00e9<&"}, {Null: true}, {}}, {{Text: "1.5"}, {Text: "x"},
	{Text: "NULL"}}}

func header() Header {
	return NewHeader("adult", "f00d", []Reference{{"public.r", 3, "aa"}, {"public.s", 0, "bb"}})
}

func create(t *testing.T, path string, h Header) *Builder {
	t.Helper()
	b, err := Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func add(t *testing.T, b *Builder, queries ...string) {
	t.Helper()
	for _, q := range queries {
		if err := b.Add("of "+q, q, answers); err != nil {
			t.Fatal(err)
		}
	}
}

// nobody is asked for what the artifact has.
type nobody struct{}

var errAsked = errors.New("asked")

func (nobody) Query(context.Context, string, [][]byte, []uint32) ([][]planner.Value, error) {
	return nil, errAsked
}

func (nobody) Evaluate(context.Context, string, [][]byte, []uint32) ([][]planner.Value, error) {
	return nil, errAsked
}

// What comes back is what went in, and only that.
func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "adult.model")
	b := create(t, path, header())
	add(t, b, "q", "empty")
	if err := b.Add("", "none", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("before the seal: %v", err)
	}
	a, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	if a.Parts() != 3 || a.Header.Fits(header()) != nil || len(a.Hash) != 64 {
		t.Errorf("%d parts, %v, hash %q", a.Parts(), a.Header.Fits(header()), a.Hash)
	}
	q := a.Over(nobody{})
	if rows, err := q.Query(t.Context(), "q", nil, nil); err != nil || !reflect.DeepEqual(rows, answers) {
		t.Errorf("got %v, %v", rows, err)
	}
	if rows, err := q.Query(t.Context(), "none", nil, nil); err != nil || len(rows) != 0 {
		t.Errorf("got %v, %v", rows, err)
	}
	for _, c := range []struct {
		sql    string
		params [][]byte
	}{{"q ", nil}, {"q", [][]byte{nil}}} {
		if _, err := q.Query(t.Context(), c.sql, c.params, nil); !errors.Is(err, errAsked) {
			t.Errorf("%q with %v came from the artifact", c.sql, c.params)
		}
	}

	var nothing *Artifact
	if _, err := nothing.Over(nobody{}).Query(t.Context(), "q", nil, nil); !errors.Is(err, errAsked) {
		t.Error("a nil artifact has an answer")
	}
	if _, err := os.Stat(path + unfinished); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished file is still there: %v", err)
	}
}

// Every single changed, lost, repeated or moved byte or line is noticed.
func TestAltered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	b := create(t, path, header())
	add(t, b, "q1", "q2")
	if _, err := b.Seal(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	lines = lines[:len(lines)-1]
	try := func(what string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, ErrAltered) && !errors.Is(err, ErrUnsealed) {
			t.Errorf("%s: %v", what, err)
		}
	}

	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		try("a flipped bit", bad)
	}
	for n := range good {
		try("a file cut off", good[:n])
	}
	for i := range lines {
		without := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
		try("a line left out", without)
		twice := bytes.Join(append(append([][]byte{}, lines[:i+1]...), lines[i:]...), nil)
		try("a line twice", twice)
	}

	try("lines exchanged", bytes.Join([][]byte{lines[0], lines[2], lines[1], lines[3]}, nil))
	try("a space more", append([]byte(" "), good...))
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err != nil {
		t.Error(err)
	}
}

// A change of anything that the header names makes an artifact stale, and says what it was.
func TestFits(t *testing.T) {
	for want, change := range map[string]func(*Header){
		"version":   func(h *Header) { h.Version++ },
		"dataset":   func(h *Header) { h.Dataset = "b" },
		"policy":    func(h *Header) { h.Policy = "beef" },
		"public.s":  func(h *Header) { h.References[1].Hash = "cc" },
		"public.r":  func(h *Header) { h.References[0].Rows++ },
		"public.x":  func(h *Header) { h.References = append(h.References, Reference{Table: "public.x"}) },
		"reference": func(h *Header) { h.References = h.References[:1] },
	} {
		h := header()
		change(&h)
		old := header()
		if want == "version" {
			h, old = old, h
		}
		if err := old.Fits(h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A builder that was killed leaves its parts to the next, wherever in a line it was.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	b := create(t, path, header())
	add(t, b, "q1", "q2")
	if _, err := Create(path, header()); err == nil {
		t.Error("two builders at once")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path + unfinished)
	if err != nil {
		t.Fatal(err)
	}

	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for _, cut := range []int{last, last + 1, len(whole) - 1, len(whole)} {
		if err := os.WriteFile(path+unfinished, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		b := create(t, path, header())
		rows, ok1 := b.Rows("q1")
		_, ok2 := b.Rows("q2")
		if !ok1 || ok2 != (cut == len(whole)) || !reflect.DeepEqual(rows, answers) {
			t.Errorf("cut at %d of %d: q1 %v %v, q2 %v", cut, len(whole), ok1, rows, ok2)
		}
		add(t, b, "q3")
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}

	b = create(t, path, header())
	if a, err := b.Seal(); err != nil || a.Parts() != 3 {
		t.Fatal(a, err)
	}
}

// A finished artifact lends its parts, but keeps none that nobody asks for, and lends none to another policy.
func TestReuse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	b := create(t, path, header())
	add(t, b, "q1", "q2")
	if a, err := b.Seal(); err != nil || a.Parts() != 2 {
		t.Fatal(a, err)
	}

	b = create(t, path, header())
	if _, ok := b.Rows("q1"); ok {
		t.Error("a part is there before it was asked for")
	}
	if ok, err := b.Reuse("q1"); !ok || err != nil {
		t.Errorf("reuse: %v, %v", ok, err)
	}
	if ok, _ := b.Reuse("q4"); ok {
		t.Error("a part from nowhere")
	}
	if a, err := b.Seal(); err != nil || a.Parts() != 1 {
		t.Fatal(a, err)
	}

	other := header()
	other.Policy = "beef"
	b = create(t, path, header())
	add(t, b, "q1")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = create(t, path, other)
	if _, ok := b.Rows("q1"); ok {
		t.Error("a part of another policy's")
	}
	if ok, _ := b.Reuse("q1"); ok {
		t.Error("a part of another policy's artifact")
	}
}
