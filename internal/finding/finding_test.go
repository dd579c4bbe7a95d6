package finding

import (
	"bytes"
	"strings"
	"testing"

	"fugu/test/golden"
)

var some = List{
	{Level: OK, Dataset: "adult", What: "dataset adult: 1 protected table, 2 secrets"},
	{Level: Note, Dataset: "adult", File: "adult.policy.yaml", What: "the policy declares no public statistics"},
	{Level: Warning, Dataset: "adult", File: "adult.policy.yaml", Line: 5, Column: 3,
		What: "table public.visit: column mail is unique, and no key that is made anew, so that it is told as it is",
		Why: "who knows a row finds it in the twin by it, and a column of that name is on every invoice that " +
			"anybody has",
		Fix: "drop: [mail]"},
	{Level: Error, File: "fugu.yaml", Line: 2, Column: 1, What: "unknown key \"lissten\"", Fix: "known here:\nlisten"},
}

// What is said is the same in each way of saying it, down to the byte.
func TestText(t *testing.T) {
	for file, style := range map[string]Style{"pipe": {}, "terminal": {Width: 72, Colour: true},
		"narrow": {Width: 12}} {
		var b bytes.Buffer
		if err := some.Text(&b, style); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+file+".txt", strings.ReplaceAll(b.String(), "\x1b", "ESC"))
		for _, line := range strings.Split(b.String(), "\n") {
			if style.Width == 72 && len(line) > 72+len("\x1b[33m\x1b[0m") {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	}
	var b bytes.Buffer
	if err := some.JSON(&b); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/list.json", b.String())
	b.Reset()
	if err := (List)(nil).JSON(&b); err != nil || !strings.Contains(b.String(), `"findings": []`) {
		t.Errorf("an empty list is %s", b.String())
	}
}
