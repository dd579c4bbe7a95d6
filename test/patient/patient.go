// Package patient marks tests that ask one thing after the other. The race detector makes them many times slower and
// finds no more in them than in those tests of their packages in which several things go on at once. So scripts/test.sh
// runs them without it: each test that begins with a marker, and nothing else, in a step of its own.
package patient

import (
	"os"
	"testing"
)

// Asked is the environment variable that has marked tests run under the race detector too, whatever its value.
const Asked = "FUGU_PATIENT"

// asked is read at once: tests of the command take out of the environment what is none of its variables.
var asked = os.Getenv(Asked) != ""

// Test marks a test as a patient one: under the race detector it is skipped, unless it is asked for. It is the first
// statement of the test, where scripts/test.sh looks for it; a test that is not marked there fails it.
func Test(t testing.TB) {
	t.Helper()
	if race && !asked {
		t.Skip("without the race detector: " + Asked + "=1 runs it nevertheless")
	}
}
