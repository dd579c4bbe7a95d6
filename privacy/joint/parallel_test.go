package joint

import (
	"strings"
	"sync/atomic"
	"testing"
)

func TestParallel(t *testing.T) {
	var sum atomic.Int64
	parallel(1000, func(i int) { sum.Add(int64(i)) })
	if got := sum.Load(); got != 499_500 {
		t.Errorf("sum %d", got)
	}
	for _, n := range []int{1, 100} {
		func() {
			defer func() {
				if p, ok := recover().(string); !ok || !strings.Contains(p, "fault") {
					t.Errorf("of %d: a panic became %v", n, p)
				}
			}()
			parallel(n, func(i int) {
				if i == n-1 {
					panic("fault")
				}
			})
		}()
	}
}
