package arch

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// CheckSizes returns the lines that are wider than maxColumns, and the functions of more than maxFunction lines, in the
// Go files and documents of the repository whose files are in root: one line each, in order.
func CheckSizes(root fs.FS) ([]string, error) {
	var found []string
	err := walk(root, func(name, text string) error {
		ext := path.Ext(name)

		// Functions are a matter of Go files.
		if ext != ".go" && ext != ".md" || strings.Contains(name, "testdata/") {
			return nil
		}

		n := 0
		for line := range strings.Lines(text) {
			n++
			if c := columns(strings.TrimRight(line, "\n")); c > maxColumns {
				found = append(found, fmt.Sprintf("%s:%d: is %d columns wide, more than %d", name, n, c, maxColumns))
			}
		}

		if ext != ".go" {
			return nil
		}
		files, parsed, err := parse(name, text)
		if err != nil {
			return err
		}
		for _, f := range longer(maxFunction, files, parsed) {
			found = append(found,
				fmt.Sprintf("%s:%d: %s has %d lines, more than %d", name, f.line, f.name, f.lines, maxFunction))
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}
