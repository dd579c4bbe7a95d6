package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// bill is what a test reads of one.
type bill struct {
	BOMFormat, SpecVersion string
	Components             []struct {
		Name, Version, PURL string
		Hashes              []struct{ Alg, Content string }
	}
	Dependencies []struct{ DependsOn []string }
}

func read(t *testing.T, info *debug.BuildInfo) (b bill, text string) {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out, info); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	return b, out.String()
}

// The bill of this test's program has the modules that go version -m lists, neither more nor less, and Go's library.
func TestModules(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	listed, err := exec.CommandContext(t.Context(), "go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(listed)) {
		if f := strings.Fields(line); len(f) == 4 && f[0] == "dep" {
			want = append(want, f[1]+" "+f[2])
		}
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	b, text := read(t, info)
	if _, again := read(t, info); again != text {
		t.Error("another bill of the same program")
	}

	var got []string
	for _, c := range b.Components {
		if c.Name == "std" {
			continue
		}
		got = append(got, c.Name+" "+c.Version)
		if c.PURL != "pkg:golang/"+c.Name+"@"+c.Version || len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64 {
			t.Errorf("%+v", c)
		}
	}
	if !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("listed %q, want %q", got, want)
	}
	if b.BOMFormat != "CycloneDX" || b.SpecVersion != "1.6" || len(b.Components) != len(want)+1 ||
		len(b.Dependencies) != 1 || len(b.Dependencies[0].DependsOn) != len(want)+1 {
		t.Errorf("%s", text)
	}
}

// A module in another's place is named, and a checksum that is no SHA-256 is refused.
func TestReplaced(t *testing.T) {
	const sum = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
	info := &debug.BuildInfo{GoVersion: "go1.2.3", Main: debug.Module{Path: "fugu"}, Deps: []*debug.Module{
		{Path: "a.example/old", Version: "v1.0.0", Replace: &debug.Module{Path: "a.example/new", Version: "v1.0.1",
			Sum: sum}}}}
	b, _ := read(t, info)
	if c := b.Components; len(c) != 2 || c[0].PURL != "pkg:golang/std@1.2.3" ||
		c[1].PURL != "pkg:golang/a.example/new@v1.0.1" ||
		c[1].Hashes[0].Content != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("%+v", c)
	}
	info.Deps[0].Replace.Sum = "h2:x"
	if err := write(&bytes.Buffer{}, info); err == nil || !strings.Contains(err.Error(), "a.example/new") {
		t.Errorf("%v", err)
	}
}
