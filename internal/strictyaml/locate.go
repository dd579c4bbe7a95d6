package strictyaml

import "os"

// Locate finds where a key stands in a file, by the keys that lead to it from the top: the last of them that is there.
// The zero Position: the file is none that can be read, or has not even the first.
func Locate(file string, keys ...string) Position {
	data, err := os.ReadFile(file)
	if err != nil {
		return Position{}
	}
	var at Position
	v := Parse(&Report{File: file}, data)
	for _, key := range keys {
		if v == nil || v.Kind != Map {
			break
		}
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
