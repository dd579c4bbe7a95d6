//go:build !byday

// Command choosing draws the pictures of docs/choosing.md into docs/plots, by the exact laws: no data and no
// chance are in them. Run it from the root of the repository.
package main

import (
	"log"
	"os"
	"path/filepath"
)

func main() {
	for name, draw := range pictures {
		text, err := draw()
		if err == nil {
			err = os.WriteFile(filepath.Join("docs", "plots", name), text, 0o644)
		}
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

var pictures = map[string]func() ([]byte, error){
	"choosing_decision.svg":   decision,
	"choosing_guesses.svg":    guesses,
	"choosing_errors.svg":     errors,
	"choosing_ranges.svg":     ranges,
	"choosing_within.svg":     closeness,
	"choosing_statements.svg": statements,
}
