package joint

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// processors is how many goroutines are worth starting.
func processors() int { return runtime.GOMAXPROCS(0) }

// parallel calls work for 0 to n-1 on all processors, and waits. A panic of work's is one of the caller's, who may
// recover.
func parallel(n int, work func(i int)) {
	workers := min(n, processors())
	if workers <= 1 {
		for i := range n {
			work(i)
		}
		return
	}

	// Whoever is done takes the next number.
	var next atomic.Int64
	var all sync.WaitGroup
	var failed atomic.Value
	for range workers {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					failed.Store(fmt.Sprintf("%v\n%s", p, debug.Stack()))
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}

	all.Wait()
	if p := failed.Load(); p != nil {
		panic(p)
	}
}
