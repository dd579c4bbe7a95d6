package explain_test

import (
	"testing"

	"fugu/explain"
)

// What is said of a secret names the value that it moves most, and how much is there for the reference's sake.
func TestWhatASecretMoves(t *testing.T) {
	moved := &explain.Moved{Column: "count(*)", Group: "ward=ER", Along: 250, Beside: 3}
	for want, s := range map[string]explain.Secret{
		"moves F by at most 2 (L1), 1 (L2)": {Norm1: 2, Norm2: 1},
		"moves F by at most 323 (L1), 256 (L2), 1.5 of it for what the reference cannot show; most of all count(*) " +
			"of ward=ER, by 253": {Norm1: 323, Norm2: 256, Beside: 1.5, Most: moved},
		"moves F by at most 2 (L1), 1 (L2); most of all sum(x), by 1": {Norm1: 2, Norm2: 1,
			Most: &explain.Moved{Column: "sum(x)", Along: 1}},
	} {
		if got := s.String(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
