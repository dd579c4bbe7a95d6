package claim

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// InFile has claims as locks on single bytes of a file, one byte for a key; the file is made where it is not there, and
// nothing is written to it. The locks belong to the file as it was opened, unlike those of POSIX, which a process loses
// when it closes the same file anywhere.
func InFile(path string) Among { return &file{path: path} }

type file struct {
	path string

	mu     sync.Mutex
	opened *os.File // nil: nothing was claimed yet
}

// set makes the lock of a key one of the kind.
func (f *file) set(key string, kind int16) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opened == nil {
		if f.opened, err = os.OpenFile(f.path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
			return err
		}
	}
	lock := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: place(key), Len: 1}
	return unix.FcntlFlock(f.opened.Fd(), unix.F_OFD_SETLK, &lock)
}

// Take implements Among.
func (f *file) Take(_ context.Context, key string) (bool, error) {
	err := f.set(key, unix.F_WRLCK)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return false, nil // another has it [fcntl(2)]
	}
	return err == nil, err
}

// Return implements Among.
func (f *file) Return(_ context.Context, key string) error { return f.set(key, unix.F_UNLCK) }

// Close implements Among.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opened == nil {
		return nil
	}
	return f.opened.Close()
}
