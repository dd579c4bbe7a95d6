// Package golden compares what a test made with the text that a file of its testdata says it should be. The flag
// -update of the test writes these files; what changed in them is for the one who commits them to read.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// Updating reports whether the test was asked to write its golden files.
func Updating() bool { return *update }

// Check fails the test if got is not the text of the file.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%swant\n%s", file, got, want)
	}
}

// CheckFindings does so for the findings of a bad file or directory of testdata, which stand in a .txt beside it. Paths
// in them are as they would be in testdata. It returns their text.
func CheckFindings(t testing.TB, path string, findings error) string {
	t.Helper()
	got := strings.ReplaceAll(findings.Error(), "testdata/", "") + "\n"
	Check(t, strings.TrimSuffix(path, ".yaml")+".txt", got)
	return got
}
