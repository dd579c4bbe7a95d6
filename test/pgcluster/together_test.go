package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Who comes first while there is no copy yet makes one, and the others wait: of a copy that was exchanged meanwhile
// they would have a half, which no server starts with.
func TestTogetherFromNothing(t *testing.T) {
	_, tree := testCache(t)
	as, err := unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	bin, err := findServer()
	if err != nil {
		t.Fatal(err)
	}
	var made sync.WaitGroup
	errs, ids := make([]error, 4), make([]string, 4)
	for i := range errs {
		made.Go(func() {
			data := tree + fmt.Sprint(i)
			errs[i] = makeData(t.Context(), bin, as, data)
			control, err := os.ReadFile(filepath.Join(data, "global", "pg_control"))
			errs[i] = errors.Join(errs[i], err)
			ids[i] = string(control[:min(8, len(control))]) // the cluster's identifier
		})
	}
	made.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("more than one was made: %x", ids)
		}
	}
}
