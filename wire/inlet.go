package wire

import (
	"io"
	"sync"
	"syscall"
)

// bufferSize is what is read from a connection at once, in bytes. More would cost the processor's cache what it saves
// in system calls: PostgreSQL itself writes 8 KiB at a time.
const bufferSize = 32 << 10

// buffers are lent to connections while they have something to say; one that waits holds none.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// inlet reads a connection through a buffer that it holds only while there is something in it.
type inlet struct {
	from     filler
	buf      *[bufferSize]byte // nil, or lent
	pos, end int               // of what was read and not yet taken

	// A connection with a descriptor of its own is read when it is known to have something.
	conn    io.Reader // that raw is of
	raw     syscall.RawConn
	attempt func(fd uintptr) bool // i.try, made once
	n       int                   // what the last attempt read
	err     error                 // and how it ended
	first   [1]byte               // what other connections are waited for with
	keep    bool                  // a buffer is lent while it waits too: a login reads all that has come
}

func newInlet(from io.Reader) *inlet { return &inlet{from: plain{from}} }

// filler is where an inlet reads from: it calls read for a connection, and may have something to do before.
type filler interface{ fill(*inlet) (int, error) }

// plain is a source that is only read.
type plain struct{ io.Reader }

func (p plain) fill(in *inlet) (int, error) { return in.read(p.Reader) }

// fill reads once, behind what there is. There has to be room.
func (i *inlet) fill() error {
	n, err := i.from.fill(i)
	if n > 0 {
		return nil // an error comes again
	}
	return err
}

// read reads from conn once. What Buffered counts may move; what was taken before is no longer good.
func (i *inlet) read(conn io.Reader) (int, error) {
	if i.pos > 0 {
		i.end = copy(i.buf[:], i.buf[i.pos:i.end])
		i.pos = 0
	}

	if raw := i.descriptor(conn); raw != nil {
		if err := raw.Read(i.attempt); err != nil {
			return 0, err
		}
		i.end += i.n
		return i.n, i.err
	}

	// While a client is silent it needs no buffer but a byte to wait with.
	if i.release(); i.buf != nil || i.keep {
		i.lend()
		n, err := conn.Read(i.buf[i.end:])
		i.end += n
		return n, err
	}

	n, err := conn.Read(i.first[:])
	if n > 0 {
		i.lend()
		i.end = copy(i.buf[:], i.first[:])
	}
	return n, err
}

// descriptor is the one of the connection that is read.
func (i *inlet) descriptor(conn io.Reader) syscall.RawConn {
	if i.conn != conn {
		i.conn, i.raw, i.attempt = conn, descriptor(conn), i.try
	}
	return i.raw
}

// try reads if that is possible without waiting. If not, it gives the buffer back before the wait.
func (i *inlet) try(fd uintptr) bool {
	i.lend()
	if i.n, i.err = readNow(fd, i.buf[i.end:]); i.err == syscall.EAGAIN {
		i.release()
		return false
	}
	return true
}

func (i *inlet) lend() {
	if i.buf == nil {
		i.buf = buffers.Get().(*[bufferSize]byte)
	}
}

// release gives an empty buffer back. What was taken from it is no longer good.
func (i *inlet) release() {
	if i.buf != nil && i.pos == i.end {
		buffers.Put(i.buf)
		i.buf, i.pos, i.end = nil, 0, 0
	}
}

// close gives the buffer back, whatever is in it.
func (i *inlet) close() {
	i.pos = i.end
	i.release()
}

// Buffered is the number of bytes that can be taken.
func (i *inlet) Buffered() int { return i.end - i.pos }

// buffered are those bytes.
func (i *inlet) buffered() []byte {
	if i.buf == nil {
		return nil
	}
	return i.buf[i.pos:i.end]
}

// take gives the next n bytes, which are there. They are good until the next read.
func (i *inlet) take(n int) []byte {
	b := i.buf[i.pos : i.pos+n]
	i.pos += n
	return b
}

// Peek gives the next n bytes, at most bufferSize, without taking them; with an error, fewer.
func (i *inlet) Peek(n int) ([]byte, error) {
	for i.Buffered() < n {
		if err := i.fill(); err != nil {
			return i.buffered(), err
		}
	}
	return i.buffered()[:n], nil
}

// Read takes what there is, and waits where there is nothing.
func (i *inlet) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if _, err := i.Peek(1); err != nil {
		return 0, err
	}
	return copy(b, i.take(min(len(b), i.Buffered()))), nil
}

// Discard drops n bytes.
func (i *inlet) Discard(n int) error {
	for n > 0 {
		if _, err := i.Peek(1); err != nil {
			return err
		}
		n -= len(i.take(min(n, i.Buffered())))
	}
	return nil
}

// Reset makes it read from another source, and drops what there is.
func (i *inlet) Reset(from io.Reader) {
	i.close()
	i.from = plain{from}
}
