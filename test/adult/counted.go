package adult

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"
)

// Counted is a line of a file in testdata that counts records of the census: what is counted, where lines differ in
// that, and whole numbers, of which the last says how many records have the others.
type Counted struct {
	Name    string
	Numbers []int
}

// ReadCounted reads such a file.
func ReadCounted(t testing.TB, path string) (lines []Counted) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}

	for _, r := range records {
		var line Counted
		for i, field := range r {
			n, err := strconv.Atoi(field)
			if err != nil && i == 0 {
				line.Name = field
				continue
			} else if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			line.Numbers = append(line.Numbers, n)
		}
		lines = append(lines, line)
	}
	return lines
}
