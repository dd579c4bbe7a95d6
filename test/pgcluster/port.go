package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// port is a port of the loopback interface that is one cluster's for good: also before its server listens, and while
// that is down, when clients are to find it closed and not somebody else behind it.
//
// A socket that is bound and does not listen keeps it. The system gives a bound port to nobody who asks for any, and
// lets a server that asks for this one listen on it, as both allow their address to be reused (SO_REUSEADDR in
// socket(7)).
type port struct {
	number int
	kept   *os.File // the socket; nil: released
}

func freePort() (*port, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	kept := os.NewFile(uintptr(fd), "port")
	loopback := &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	if err := errors.Join(syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(fd, loopback)); err != nil {
		return nil, errors.Join(os.NewSyscallError("bind", err), kept.Close())
	}

	name, err := syscall.Getsockname(fd)
	bound, ok := name.(*syscall.SockaddrInet4)
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("getsockname: %T, %w", name, err), kept.Close())
	}
	return &port{number: bound.Port, kept: kept}, nil
}

// release lets others have the port.
func (p *port) release() error {
	if p.kept == nil {
		return nil
	}
	err := p.kept.Close()
	p.kept = nil
	return err
}
