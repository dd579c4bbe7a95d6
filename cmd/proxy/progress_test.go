package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"fugu/test/patient"
)

// terminal opens a pseudo-terminal 80 columns wide: what is written to tty can be read from screen.
func terminal(t *testing.T) (tty, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	control := func(request uintptr, arg unsafe.Pointer) {
		t.Helper()
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(arg)); errno != 0 {
			t.Fatal(errno)
		}
	}
	var unlock, number int32
	size := [4]uint16{24, 80}
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	if tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close(); _ = screen.Close() })
	return tty, screen
}

// On a terminal there is one line, which fills up, never wraps, and is gone at the end; elsewhere a line for each
// statement.
func TestProgress(t *testing.T) {
	patient.Test(t)
	long := "SELECT   " + strings.Repeat("x", 200)
	var lines bytes.Buffer
	p := progress(&lines, "adult")
	p(0, 2, long)
	p(1, 2, "SELECT 2")
	p(2, 2, "")
	if want := "fugu fit: adult 1/2 SELECT " + strings.Repeat("x", 200) +
		"\nfugu fit: adult 2/2 SELECT 2\n"; lines.String() != want {
		t.Errorf("got %q", lines.String())
	}
	tty, screen := terminal(t)
	p = progress(tty, "adult")
	p(0, 2, long)
	p(1, 2, "SELECT 2")
	p(2, 2, "")
	if err := screen.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Log(err)
	}
	var seen []byte
	for !bytes.HasSuffix(seen, []byte("] 2/2 \r\x1b[K")) {
		b := make([]byte, 4096)
		n, err := screen.Read(b)
		if err != nil {
			t.Fatalf("%v after %q", err, seen)
		}
		seen = append(seen, b[:n]...)
	}
	frames := strings.Split(string(seen), "\r\x1b[K")
	if len(frames) != 5 || strings.Contains(string(seen), "\n") || len(frames[1]) != 79 ||
		!strings.HasPrefix(frames[1], "adult [....................] 0/2 SELECT xxx") ||
		frames[2] != "adult [##########..........] 1/2 SELECT 2" || frames[3] != "adult [####################] 2/2 " ||
		frames[4] != "" {
		t.Errorf("frames %q", frames)
	}
}
