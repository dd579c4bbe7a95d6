//go:build byday

package main

import "path/filepath"

// write draws nothing, and leaves only the numbers: what draws is three dozen packages, and no test looks at a figure.
func (f *figure) write(dir string) error { return f.csv(filepath.Join(dir, f.name+".csv")) }
