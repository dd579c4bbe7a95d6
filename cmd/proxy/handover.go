package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A proxy hands over to a successor, on SIGUSR2: it starts the program anew, which may be another version by now, with
// the socket on which clients connect and the lock of the ledger. Both take clients from the one socket until the
// successor is ready, so that none is turned away; then the first takes no more, and ends when its last client has
// gone. A successor that does not come up changes nothing. One that fails later, while the first still has clients, has
// the first end too, as a failure, so that whoever looks after it starts another.
//
// Two sockets of the same address (SO_REUSEPORT) would each have a queue of their own, and what is in the first one's
// is lost with it. A socket that a service manager holds (LISTEN_FDS) keeps new clients waiting while the one process
// ends and the other begins, and cuts off those that there are.

// inheritance is what a proxy has of the one before; nothing, of the first.
type inheritance struct {
	clients *os.File // the socket
	lock    *os.File // of the ledger; nil: it has none
	ready   *os.File // where it says that it takes clients
}

// handedOver names the inherited files, in order from the first descriptor behind the standard streams. It does not
// begin like the variables that override fugu.yaml.
const handedOver = "FUGUHANDEDOVER"

// The words of handedOver.
const (
	clientsWord = "clients"
	lockWord    = "lock"
	readyWord   = "ready"
	firstFile   = 3
)

// inherited is what the process before has left, according to the environment, of which it takes the note out: it is
// not for those that come behind.
func inherited() (in inheritance, err error) {
	words := os.Getenv(handedOver)
	_ = os.Unsetenv(handedOver)
	if words == "" {
		return in, nil
	}

	// The words stand in the order of the files; programs that this one starts do not get these.
	for i, word := range strings.Split(words, ",") {
		syscall.CloseOnExec(firstFile + i)
		f := os.NewFile(uintptr(firstFile+i), word)
		switch word {
		case clientsWord:
			in.clients = f
		case lockWord:
			in.lock = f
		case readyWord:
			in.ready = f
		}
	}

	// A ledger need not have a lock that is to be handed over.
	if in.clients == nil || in.ready == nil {
		return in, errors.New("what the proxy before has handed over is not complete")
	}
	return in, nil
}

// listen is where clients connect: the socket of the proxy before, or one of the address. wire sets what connections
// are kept alive by; the net package's own settings would cost as many calls again.
func (in inheritance) listen(ctx context.Context, address string) (net.Listener, error) {
	if in.clients == nil {
		quiet := net.ListenConfig{KeepAlive: -1}
		l, err := quiet.Listen(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("listening: %w", err)
		}
		return l, nil
	}
	defer in.clients.Close()
	l, err := net.FileListener(in.clients)
	if err != nil {
		return nil, fmt.Errorf("taking over the socket of clients: %w", err)
	}
	return l, nil
}

// readyText is what a successor writes when it takes clients.
const readyText = "ready\n"

// takes says that clients are taken: to the proxy before, and to the service manager, which is to know the successor.
func (in inheritance) takes() error {
	if in.ready != nil {
		_, err := in.ready.WriteString(readyText)
		if err = errors.Join(err, in.ready.Close()); err != nil {
			return fmt.Errorf("telling the proxy before: %w", err)
		}
	}
	return notify(fmt.Sprintf("MAINPID=%d\nREADY=1", os.Getpid()))
}

// notify tells the service manager something, where there is one that wants to know (systemd's sd_notify(3)).
func notify(state string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	_, err = io.WriteString(c, state)
	return errors.Join(err, c.Close())
}

// program is the file that this process was started from. It is found at the start: the working directory stays, but
// what the name leads to may be replaced, which is how a new version comes.
func program() (string, error) {
	found, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", err
	}
	return filepath.Abs(found)
}

// duplicate is another descriptor of a listener's socket. Its own File would make the socket block as soon as it is
// passed on, for this process too, which then could not stop waiting for clients.
func duplicate(l net.Listener) (*os.File, error) {
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var failed error
	err = raw.Control(func(own uintptr) { fd, failed = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "clients"), nil
}

// successorTime is how long a successor may take until it is ready: it verifies the whole ledger.
const successorTime = 10 * time.Minute

// heir is a successor that takes clients.
type heir struct {
	pid   int
	ended <-chan error // how it has ended, once it has
}

// bequeath starts a successor with the socket and the lock, and returns when it takes clients. After an error there is
// none, and all is as it was.
func bequeath(ctx context.Context, program string, clients net.Listener, lock *os.File) (*heir, error) {
	socket, err := duplicate(clients)
	if err != nil {
		return nil, fmt.Errorf("handing over the socket: %w", err)
	}
	defer socket.Close()
	ready, said, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ready.Close()

	successor := exec.Command(program, os.Args[1:]...)
	successor.Stdin, successor.Stdout, successor.Stderr = os.Stdin, os.Stdout, os.Stderr
	words := []string{clientsWord, readyWord}
	successor.ExtraFiles = []*os.File{socket, said}
	if lock != nil {
		words, successor.ExtraFiles = append(words, lockWord), append(successor.ExtraFiles, lock)
	}
	successor.Env = append(os.Environ(), handedOver+"="+strings.Join(words, ","))
	err = successor.Start()
	_ = said.Close()
	if err != nil {
		return nil, fmt.Errorf("starting the successor: %w", err)
	}

	// It says that it is ready, or ends: then the pipe ends, too.
	_ = ready.SetReadDeadline(time.Now().Add(successorTime))
	stop := context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	heard := make([]byte, len(readyText))
	if _, err := io.ReadFull(ready, heard); err == nil && string(heard) == readyText {
		ended := make(chan error, 1)
		go func() { ended <- successor.Wait() }() // it may end before this process
		return &heir{successor.Process.Pid, ended}, nil
	}
	_ = successor.Process.Kill()
	return nil, fmt.Errorf("the successor did not come up, and says why on its own: %v", successor.Wait())
}

// errAlone is why a proxy ends that has handed over to one that failed.
var errAlone = errors.New("the successor has failed, and nobody takes clients")

// outlive has this proxy end where the successor fails before it: it takes no clients any more, and whoever looks after
// it takes all to be well. The service manager is to see the end of this process, as it is no parent of the other's.
func (s *served) outlive(ctx context.Context, successor *heir, end context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
	case err := <-successor.ended:
		if err == nil { // it was told to stop, or has handed over itself
			return
		}
		s.log.Error("the successor has failed: this proxy ends too, so that another is started", "error", err)
		if err := notify(fmt.Sprintf("MAINPID=%d", os.Getpid())); err != nil {
			s.log.Warn("the service manager was not told", "error", err)
		}
		end(errAlone)
	}
}
