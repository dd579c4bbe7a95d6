package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fence = regexp.MustCompile("(?ms)^ *```.*?^ *```$")

	// A call of fugu's within a sentence, and one that is a line of its own, in a fence or set off by blanks.
	spanned = regexp.MustCompile("`(?:bin/)?fugu ([a-z]+)\\b([^`]*)`")
	lined   = regexp.MustCompile(`(?m)^ *(?:\$ )?(?:bin/)?fugu ([a-z]+)\b(.*)$`)
)

// miscalled are the calls of commands in a document that name a command, a subcommand or a flag that there is not.
func miscalled(text string) (found []string) {
	// A call goes on behind a backslash at a line's end, and ends where a shell's comment begins.
	calls := lined.FindAllStringSubmatch(strings.ReplaceAll(text, "\\\n", " "), -1)
	prose := strings.ReplaceAll(fence.ReplaceAllString(text, ""), "\n", " ")
	for _, m := range append(calls, spanned.FindAllStringSubmatch(prose, -1)...) {
		name, rest := m[1], m[2]
		rest, _, _ = strings.Cut(rest, " #")
		if rest == " oids" { // the masks of the catalog are called so
			continue
		}
		c, ok := commandOf(name)
		if !ok {
			if name != "help" {
				found = append(found, fmt.Sprintf("there is no command fugu %s", name))
			}
			continue
		}

		known := []string{"h"}
		for _, f := range c.flags() {
			known = append(known, f.Name)
		}
		for i, word := range strings.Fields(rest) {
			flag, isFlag := strings.CutPrefix(word, "-")
			flag, _, _ = strings.Cut(flag, "=")
			switch {
			case isFlag && lowercase.MatchString(flag) && !slices.Contains(known, flag):
				found = append(found, fmt.Sprintf("fugu %s has no flag -%s", name, flag))
			case i == 0 && lowercase.MatchString(word) && c.words() != nil && !slices.Contains(c.words(), word):
				found = append(found, fmt.Sprintf("there is no fugu %s %s", name, word))
			}
		}
	}
	return found
}

var lowercase = regexp.MustCompile(`^[a-z][a-z-]*$`)

// Documents call commands as they are.
func TestDocumentsCallCommands(t *testing.T) {
	calls := 0
	for _, root := range []string{"../../README.md", "../../docs", "../../examples"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".md" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			calls += len(spanned.FindAllString(string(text), -1)) + len(lined.FindAllString(string(text), -1))
			for _, what := range miscalled(string(text)) {
				t.Errorf("%s: %s", path, what)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if calls < 100 {
		t.Errorf("only %d calls of commands were found", calls)
	}

	// What is wrong is found, and it alone.
	for text, want := range map[string]string{
		"Run `fugu twin\nbuild -again` on it, or `fugu help`.":                "",
		"    $ bin/fugu init \"$URL\" -dir shop \\\n        -rowz 3   # -odd": "fugu init has no flag -rowz",
		"```\nfugu chek -c fugu.yaml\n```\n":                                  "there is no command fugu chek",
		"`fugu budget resett DATASET` and `fugu check -jsn`": "there is no fugu budget resett; " +
			"fugu check has no flag -jsn",
	} {
		if got := strings.Join(miscalled(text), "; "); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}
