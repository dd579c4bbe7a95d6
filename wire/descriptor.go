package wire

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// descriptor gives access to the file descriptor of a connection that is nothing more than one; nil of others. It does
// not block (the net package sees to that), so the calls below are made without telling Go's scheduler: what it does
// around a call that may block costs more than these do.
func descriptor(conn any) syscall.RawConn {
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn:
		raw, err := conn.(syscall.Conn).SyscallConn()
		if err == nil {
			return raw
		}
	}
	return nil
}

// readNow reads what there is, at least a byte; EAGAIN says that there is nothing.
func readNow(fd uintptr, b []byte) (int, error) {
	n, err := callNow(syscall.SYS_READ, "read", fd, b)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// writeNow writes what there is room for, at least a byte; EAGAIN says that there is none.
func writeNow(fd uintptr, b []byte) (int, error) { return callNow(syscall.SYS_WRITE, "write", fd, b) }

// callNow makes a system call over bytes, once more where a signal came in between.
func callNow(trap uintptr, name string, fd uintptr, b []byte) (int, error) {
	for {
		n, _, e := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch e {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		case syscall.EAGAIN:
			return 0, e
		default:
			return 0, os.NewSyscallError(name, e)
		}
	}
}
