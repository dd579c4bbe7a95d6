package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// opening makes sure that no handle of this process creates and closes a file on which another one already holds locks:
// POSIX drops a process's locks on a file whenever it closes any descriptor of it. It also keeps first openings of a
// new file, which switch it to write-ahead logging, apart.
var opening sync.Mutex

// ensure makes sure that the file is there, regular, and closed to everyone but its owner.
func ensure(path string, create bool) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		// To who only looks it is not a ledger in which nothing was charged, either.
		if err := orphaned(path); err != nil {
			return err
		}
		if !create {
			return err
		}

		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err = os.Stat(path)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}

	// A file that was there may be anything, and anybody's.
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("others may open it (mode %04o): chmod 600 it", mode)
	}
	return nil
}

// orphaned refuses the place of a ledger whose file was moved away or removed without its log, in which charges may be
// that are nowhere else: SQLite would take the log away for a new file, and a new ledger knows of no charge.
func orphaned(path string) error {
	log := path + logEnd
	switch info, err := os.Stat(log); {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0:
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("it is not there, but %s is, which may hold charges of it: put the ledger's file back, or move "+
		"both away", log)
}

// damaged says of a file that SQLite cannot read what an operator may have done to it: put back over a ledger whose log
// stayed, a backup has that log written into it.
func damaged(path string, err error) error {
	var e sqlite3.Error
	if !errors.As(err, &e) || e.Code != sqlite3.ErrCorrupt && e.Code != sqlite3.ErrNotADB {
		return err
	}
	return fmt.Errorf("%w: if it is a backup that was put back, %s%s and %[2]s-shm beside it are of the file before: "+
		"move all three away, and put the backup there once more", err, path, logEnd)
}

// logEnd is how the name of SQLite's write-ahead log ends.
const logEnd = "-wal"

// LockOf returns the lock that a ledger holds which was opened Exclusive, for a process that takes over: it is the
// kernel's, and held for as long as any process has it open. nil: there is none.
func LockOf(l Ledger) *os.File {
	s, ok := l.(*store)
	if !ok {
		return nil
	}
	f, _ := s.lock.(*os.File)
	return f
}

// takeOver checks that f, which another process has locked and passed on, is the lock file beside the ledger.
func takeOver(path string, f *os.File) error {
	passed, err := f.Stat()
	if err != nil {
		return err
	}
	beside, err := os.Stat(lockFile(path))
	if err != nil {
		return err
	}
	if !os.SameFile(passed, beside) {
		return errors.New("the lock that was handed over is another ledger's")
	}
	// It is this very lock that the other process holds, so it is had at once; after a mistake it would not be.
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("taking over the lock: %w", err)
	}
	return nil
}

// lockFile is the file beside a ledger that processes lock: as a whole, whoever serves from it, and single bytes of it,
// whoever reads rows for a question.
func lockFile(path string) string { return path + ".lock" }

// lock takes the lock file beside the ledger. The kernel gives the lock back when the process ends, however it ends;
// the file stays, since removing it would let two processes lock two files of the same name.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(lockFile(path), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.New("another server uses it: stop that one, or have it hand over (SIGUSR2)")
		}
		return nil, fmt.Errorf("locking %s: %w", f.Name(), err)
	}
	return f, nil
}
