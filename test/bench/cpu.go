package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tick is the unit of /proc/PID/stat in milliseconds: USER_HZ is 100 on every architecture that Go runs on.
const tick = 10

// server is PostgreSQL as a tree of processes, by the id of its first.
type server int

// serverOf finds the server that has a backend of this id.
func serverOf(backend uint32) (server, error) {
	p, err := processOf(int(backend))
	return server(p.parent), err
}

// processor says how many milliseconds of processor time the server has had: its processes that live, to the nanosecond, and
// those that have ended, as parallel workers do with each statement, in ticks.
func (s server) processor() (float64, error) {
	first, err := processOf(int(s))
	if err != nil {
		return 0, err
	}
	total := first.ended
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, dir := range dirs {
		id, _ := strconv.Atoi(filepath.Base(dir))
		p, err := processOf(id)
		if err != nil || p.parent != int(s) {
			continue // another's, or it has ended by now
		}
		text, err := os.ReadFile(dir + "/schedstat")
		if err != nil {
			continue
		}
		ns, _, _ := strings.Cut(string(text), " ")
		v, err := strconv.ParseFloat(ns, 64)
		if err != nil {
			return 0, fmt.Errorf("reading %s/schedstat: %w", dir, err)
		}
		total += v / 1e6
	}
	return total, nil
}

// process is what /proc says of one: the id of its parent, and the milliseconds of processor time of its ended children.
type process struct {
	parent int
	ended  float64
}

// processOf reads /proc/PID/stat [proc(5)]: the name, in parentheses, can hold anything.
func processOf(id int) (process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	if err != nil {
		return process{}, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 15 {
		return process{}, fmt.Errorf("/proc/%d/stat has %d fields", id, len(fields))
	}
	var out process
	out.parent, _ = strconv.Atoi(fields[1])
	for _, f := range fields[13:15] { // cutime, cstime
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return process{}, fmt.Errorf("reading /proc/%d/stat: %w", id, err)
		}
		out.ended += v * tick
	}
	return out, nil
}

// own says how many milliseconds of processor time this process has had.
func own() (float64, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, err
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e6, nil
}
