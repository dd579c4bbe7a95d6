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
	for {
		n, _, e := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))),
			uintptr(len(b)))
		switch {
		case e == syscall.EINTR:
		case e == syscall.EAGAIN:
			return 0, e
		case e != 0:
			return 0, os.NewSyscallError("read", e)
		case n == 0:
			return 0, io.EOF
		default:
			return int(n), nil
		}
	}
}

// writeNow writes what there is room for, at least a byte; EAGAIN says that there is none.
func writeNow(fd uintptr, b []byte) (int, error) {
	for {
		n, _, e := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))),
			uintptr(len(b)))
		switch {
		case e == syscall.EINTR:
		case e == syscall.EAGAIN:
			return 0, e
		case e != 0:
			return 0, os.NewSyscallError("write", e)
		default:
			return int(n), nil
		}
	}
}
