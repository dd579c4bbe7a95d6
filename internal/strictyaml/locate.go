package strictyaml

import "os"

// Locate finds where a key stands in a file, by the keys that lead to it from the top: the last of them that is there.
// The zero Position: the file is none that can be read, or has not even the first.
func Locate(file string, keys ...string) Position {
	data, err := os.ReadFile(file)
	if err != nil {
		return Position{}
	}

	// Mistakes in the file have been reported elsewhere: here is only a place to point at.
	var at Position
	v := Parse(&Report{File: file}, data)
	for _, key := range keys {
		if v == nil || v.Kind != Map {
			break
		}

		// A key that is not there is looked for beside the one before it.
		found := false
		for _, e := range v.entries {
			if e.Key == key {
				at, v, found = e.At, e.Value, true
			}
		}
		if !found {
			break
		}
	}
	return at
}
