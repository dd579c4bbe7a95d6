package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/golden"
	"fugu/test/patient"
)

// Help, completion and the manual page are what the table of commands says: a command that is not there fails, and so
// does a change that nobody has read.
func TestCommandsAreTold(t *testing.T) {
	patient.Test(t)
	for file, args := range map[string][]string{"help.txt": {"help"}, "completion.bash": {"completion", "bash"},
		"completion.zsh": {"completion", "zsh"}, "completion.fish": {"completion", "fish"}, "fugu.1": {"man"}} {
		code, stdout, stderr := invoke(t, args...)
		if code != exitOK || stderr != "" {
			t.Fatalf("%v: exit %d\n%s", args, code, stderr)
		}
		golden.Check(t, filepath.Join("testdata", file), stdout)
		for _, c := range commands() {
			if !strings.Contains(stdout, c.name) {
				t.Errorf("%v does not tell of %s", args, c.name)
			}
		}
	}

	// Each command has told its flags, and done nothing: those that read a configuration have -c.
	for _, c := range commands() {
		has := false
		for _, f := range c.flags() {
			has = has || f.Name == "c"
		}
		if has == c.uses[0].alone {
			t.Errorf("fugu %s: -c is there: %v", c.name, has)
		}
	}
}

// The completion completes, in a shell.
func TestCompletionInBash(t *testing.T) {
	patient.Test(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for line, want := range map[string]string{"fugu tw": "twin", "fugu twin ": "build preview show drop export",
		"fugu twin build -ag": "-again", "fugu check -": "-c -json"} {
		_, script, _ := invoke(t, "completion", "bash")
		script += "\nCOMP_WORDS=(" + line + ")\n"
		if strings.HasSuffix(line, " ") {
			script += "COMP_WORDS+=('')\n"
		}
		script += "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_fugu\necho \"${COMPREPLY[*]}\"\n"
		cmd := exec.Command(bash)
		cmd.Stdin = strings.NewReader(script)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q is completed with %q, not %q (%v)", line, got, want, err)
		}
	}
}

func TestVersion(t *testing.T) {
	patient.Test(t)
	expect(t, exitOK, "fugu ", "version")
	expect(t, exitUsage, "fugu version", "version", "now")
	_, stdout, _ := invoke(t, "version", "-json")
	var v binary
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || v.Version == "" || !strings.HasPrefix(v.Go, "go") ||
		!strings.Contains(v.Platform, "/") {
		t.Errorf("%v: %s", err, stdout)
	}
}

func TestSchemaCommand(t *testing.T) {
	patient.Test(t)
	for _, what := range []string{"policy", "config"} {
		_, stdout, _ := invoke(t, "schema", what)
		var s struct {
			Schema string `json:"$schema"`
			Title  string
		}
		if err := json.Unmarshal([]byte(stdout), &s); err != nil || s.Schema == "" || s.Title == "" {
			t.Errorf("%s: %v, %+v", what, err, s)
		}
	}
	expect(t, exitUsage, "fugu schema config", "schema", "nothing")
}

// On a terminal findings are coloured and laid out for its width.
func TestFindingsOnATerminal(t *testing.T) {
	patient.Test(t)
	tty, screen := terminal(t)
	var plain bytes.Buffer
	args := []string{"check", "-c", "nowhere.yaml"}
	read := make(chan string, 1)
	go func() {
		b := make([]byte, 1<<16)
		n, _ := io.ReadAtLeast(screen, b, 40)
		read <- string(b[:n])
	}()
	run(context.Background(), args, os.Stdout, tty)
	run(context.Background(), args, os.Stdout, &plain)
	if got := <-read; !strings.Contains(got, "\x1b[31merror\x1b[0m") || strings.Contains(plain.String(), "\x1b") {
		t.Errorf("a terminal shows %q, and a pipe %q", got, plain.String())
	}
}
