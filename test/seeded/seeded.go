// Package seeded fixes what property tests draw, so that they are the same at every run. Importing it is enough;
// -rapid.seed=N on the command line of go test draws others.
package seeded

import (
	"flag"

	_ "pgregory.net/rapid" // which has the flag
)

func init() {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}
