//go:build fuguhooks

package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// DirectoryEnv names a directory by which a test commands this process. In its file "orders" there is one order a line,
// with a number in front by which a repeated order is known as a new one:
//
//	7 trace                     append the name of each point that is passed to the file "passed"
//	7 kill 2 statistics read    kill the process at the second passing of that point
//	7 hold 1 statistics read    make the file "held" at the first passing, and wait there until the orders change
//	7 clock -3600               set the clock an hour back
const DirectoryEnv = "FUGUHOOKS"

var directory = os.Getenv(DirectoryEnv)

// passings are counted per order, from when it was first read.
var passings struct {
	sync.Mutex
	counts map[string]int
}

func orders() []string {
	if directory == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(directory, "orders"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// Point names a place on the way of an answer, at which a test may kill or hold the process.
func Point(name string) {
	for _, order := range orders() {
		var number, nth int
		var verb string
		if n, _ := fmt.Sscan(order, &number, &verb); n < 2 {
			continue
		}
		if verb == "trace" {
			passed(name)
			continue
		}
		n, _ := fmt.Sscan(order, &number, &verb, &nth)
		if n < 3 || !strings.HasSuffix(order, fmt.Sprint(" ", nth, " ", name)) {
			continue
		}

		// An order is for one passing of the place, the first being 1.
		passings.Lock()
		if passings.counts == nil {
			passings.counts = map[string]int{}
		}
		passings.counts[order]++
		due := passings.counts[order] == nth
		passings.Unlock()

		switch {
		case due && verb == "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case due && verb == "hold":
			hold(order)
		}
	}
}

func passed(name string) {
	f, err := os.OpenFile(filepath.Join(directory, "passed"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, name)
	}
	if err != nil {
		panic(err)
	}
	_ = f.Close()
}

func hold(order string) {
	held := filepath.Join(directory, "held")
	if err := os.WriteFile(held, nil, 0o600); err != nil {
		panic(err)
	}
	for {
		still := false
		for _, o := range orders() {
			still = still || o == order
		}
		if !still {
			_ = os.Remove(held)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Now is the wall clock, which a test may set.
func Now() time.Time {
	now := time.Now()
	for _, order := range orders() {
		var number, seconds int
		if n, _ := fmt.Sscanf(order, "%d clock %d", &number, &seconds); n == 2 {
			now = now.Add(time.Duration(seconds) * time.Second)
		}
	}
	return now
}
