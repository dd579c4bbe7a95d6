package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// spent is the processor time in seconds that a process and its threads have taken so far.
func spent(pid int) (float64, error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			return 0, err
		}
		running, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseFloat(running, 64)
		if err != nil {
			return 0, err
		}
		total += ns / 1e9
	}
	return total, nil
}

// ticks are the units of times in /proc/PID/stat, a second: USER_HZ, which is the same on all that Go runs on.
const ticks = 100

// spentByAll is spent of a process and its children, those too that have ended.
func spentByAll(pid int) (float64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, behind, _ := strings.Cut(string(stat), ") ")
	total := 0.0
	if f := strings.Fields(behind); len(f) > 14 {
		for _, waited := range f[13:15] { // cutime, cstime (proc(5))
			n, err := strconv.ParseFloat(waited, 64)
			if err != nil {
				return 0, err
			}
			total += n / ticks
		}
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0, err
	}
	for _, child := range append(strings.Fields(string(children)), strconv.Itoa(pid)) {
		n, err := strconv.Atoi(child)
		if err != nil {
			return 0, err
		}
		if s, err := spent(n); err == nil { // otherwise it has just ended, and is counted next time
			total += s
		}
	}
	return total, nil
}
