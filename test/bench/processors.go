package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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

// spentByAll is spent of a process and its children. Those that have ended count to the hundredth of a second.
func spentByAll(pid int) (float64, error) {
	_, total, err := family(pid)
	if err != nil {
		return 0, err
	}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, dir := range dirs {
		id, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			return 0, err
		}
		if parent, _, err := family(id); id != pid && (err != nil || parent != pid) {
			continue // another's, or it has just ended, and is counted next time
		}
		if s, err := spent(id); err == nil {
			total += s
		}
	}
	return total, nil
}

// family reads /proc/PID/stat [proc(5)]: a process's parent, and the processor time in seconds of its children that
// have ended.
func family(pid int) (parent int, ended float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	// The name, in parentheses, can hold anything.
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(f) < 15 {
		return 0, 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(f))
	}
	if parent, err = strconv.Atoi(f[1]); err != nil {
		return 0, 0, err
	}
	for _, waited := range f[13:15] { // cutime, cstime
		n, err := strconv.ParseFloat(waited, 64)
		if err != nil {
			return 0, 0, err
		}
		ended += n / ticks
	}
	return parent, ended, nil
}

// own is the processor time in seconds that this process has taken so far.
func own() (float64, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, err
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9, nil
}
