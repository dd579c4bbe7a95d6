package packaging

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const root = "../.."

// recipe is what packaging/nfpm.yaml may contain.
type recipe struct {
	Name, Arch, Platform, Version, Section, Priority, Maintainer, Description string

	Depends, Recommends []string
	Contents            []content
	Scripts             map[string]string
}

type content struct {
	Src, Dst, Type string

	Info struct{ Mode uint32 } `yaml:"file_info"`
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// findings is what is wrong between the recipe, the script that makes what it asks for, and the unit.
func findings(recipeText, script, unit string) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	var r recipe
	if err := yaml.UnmarshalWithOptions([]byte(recipeText), &r, yaml.Strict()); err != nil {
		return []string{err.Error()}
	}

	var places []string
	for _, c := range r.Contents {
		if slices.Contains(places, c.Dst) {
			add("%s is there twice", c.Dst)
		}
		places = append(places, c.Dst)
		file, made := strings.CutPrefix(c.Src, "build/package/")
		_, err := os.Stat(filepath.Join(root, c.Src))
		if made && !strings.Contains(script, `"$out/`+file+`"`) {
			add("nothing makes %s", c.Src)
		} else if !made && err != nil {
			add("there is no %s", c.Src)
		}
		if strings.HasPrefix(c.Dst, "/etc/") != (c.Type == "config") {
			add("%s is of type %q", c.Dst, c.Type)
		}
		if want := strings.HasPrefix(c.Dst, "/usr/bin/"); want != (c.Info.Mode == 0o755) {
			add("%s has the mode %o", c.Dst, c.Info.Mode)
		}
	}
	for _, s := range r.Scripts {
		text, _ := os.ReadFile(filepath.Join(root, s)) // one that is not there is a finding of bash's
		if out, err := exec.Command("bash", "-n", filepath.Join(root, s)).CombinedOutput(); err != nil {
			add("%s: %v: %s", s, err, out)
		}
		all = append(all, strictness(s, string(text))...)
	}

	for line := range strings.Lines(unit) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		words := strings.Fields(strings.TrimPrefix(value, "-"))
		if (key == "ExecStart" || key == "EnvironmentFile") && !slices.Contains(places, words[0]) {
			add("the unit's %s is not in the package: %s", key, words[0])
		}
	}
	return all
}

// strictness is what is wrong with how a script takes its own mistakes: it has to stop at the first. The sh of Debian
// 12 knows no pipefail, and bash is on every Debian.
func strictness(name, text string) []string {
	if strings.HasPrefix(text, "#!/bin/bash\n") && strings.Contains(text, "\nset -euo pipefail\n") {
		return nil
	}
	return []string{name + " goes on behind a mistake: it begins with #!/bin/bash and set -euo pipefail"}
}

// A script that goes on behind a mistake is found.
func TestStrictness(t *testing.T) {
	for text, wrong := range map[string]bool{"#!/bin/bash\nset -euo pipefail\ntrue\n": false,
		"#!/bin/sh\nset -euo pipefail\ntrue\n": true, "#!/bin/bash\nset -e\ntrue\n": true} {
		if got := strictness("it", text); (len(got) > 0) != wrong {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// The recipe fits the repository, and each planted mistake is found.
func TestRecipe(t *testing.T) {
	texts := map[string]string{}
	for _, name := range []string{"packaging/nfpm.yaml", "scripts/package.sh", "packaging/fugu.service"} {
		texts[name] = read(t, name)
	}
	check := func(with map[string]string) []string {
		return findings(with["packaging/nfpm.yaml"], with["scripts/package.sh"], with["packaging/fugu.service"])
	}
	for _, f := range check(texts) {
		t.Error(f)
	}

	for _, c := range []struct{ file, old, new, want string }{
		{"packaging/nfpm.yaml", "recommends:", "recomends:", "unknown field"},
		{"packaging/nfpm.yaml", "src: packaging/copyright", "src: packaging/licence", "there is no packaging/licence"},
		{"packaging/nfpm.yaml", "src: packaging/fugu.service", "src: packaging/proxy.service",
			"there is no packaging/proxy.service"},
		{"packaging/nfpm.yaml", "build/package/fugu.1.gz", "build/package/fugu.8.gz", "nothing makes"},
		{"packaging/nfpm.yaml", "type: config, ", "", `/etc/default/fugu is of type ""`},
		{"packaging/nfpm.yaml", "mode: 0755", "mode: 0644", "/usr/bin/fugu has the mode 644"},
		{"packaging/nfpm.yaml", "packaging/prerm.sh", "packaging/gone.sh", "packaging/gone.sh"},
		{"packaging/nfpm.yaml", "dst: /usr/share/doc/fugu/copyright", "dst: /usr/share/doc/fugu/changelog.gz", "twice"},
		{"scripts/package.sh", `"$out/fugu.fish"`, `"$out/fish"`, "nothing makes build/package/fugu.fish"},
		{"packaging/fugu.service", "ExecStart=/usr/bin", "ExecStart=/usr/local/bin", "ExecStart is not in the package"},
		{"packaging/fugu.service", "/etc/default/", "/etc/sysconfig/", "EnvironmentFile is not in the package"},
	} {
		with := map[string]string{}
		for name, text := range texts {
			with[name] = text
		}
		if with[c.file] = strings.Replace(texts[c.file], c.old, c.new, 1); with[c.file] == texts[c.file] {
			t.Errorf("%s does not have %q", c.file, c.old)
		}
		got := check(with)
		if !slices.ContainsFunc(got, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%q for %q: found %q, want %q", c.new, c.old, got, c.want)
		}
	}
}
