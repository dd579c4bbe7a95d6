package wire

import (
	"io"
	"syscall"
)

// joined is up to which length, in bytes, it is cheaper to copy a run than to write it by itself.
const joined = 8 << 10

// outlet writes to a connection what belongs together at once. What was passed goes out from where it was read; it is
// copied only where something else stands beside it. After an error, writing does nothing.
type outlet struct {
	to  io.Writer
	own *[bufferSize]byte // copies, which go before run; nil, or lent
	n   int               // bytes of own
	run []byte            // what was passed last
	err error             // the first

	raw     syscall.RawConn       // of to, if it is nothing but a descriptor
	attempt func(fd uintptr) bool // o.try, made once
	rest    []byte                // what is being written to raw
}

func newOutlet(to io.Writer) *outlet { return &outlet{to: to, raw: descriptor(to)} }

// pass takes b, which is not empty and has to stay as it is until Flush.
func (o *outlet) pass(b []byte) {
	if n := len(o.run); n > 0 && n < cap(o.run) && &o.run[:n+1][n] == &b[0] {
		o.run = o.run[:n+len(b)] // it stands right behind
		return
	}
	o.hold()
	o.run = b
}

// hold copies the run, so that something can stand behind it.
func (o *outlet) hold() {
	b := o.run
	o.run = nil
	o.copy(b)
}

func (o *outlet) copy(b []byte) {
	for len(b) > 0 && o.err == nil {
		if o.own == nil {
			o.own = buffers.Get().(*[bufferSize]byte)
		}
		n := copy(o.own[o.n:], b)
		o.n += n
		b = b[n:]
		if o.n == len(o.own) {
			o.write()
		}
	}
}

// write writes the copies.
func (o *outlet) write() {
	if o.n > 0 {
		o.put(o.own[:o.n])
	}
	o.n = 0
}

// put writes b, now.
func (o *outlet) put(b []byte) {
	switch {
	case o.err != nil:
		return
	case o.raw == nil:
		_, o.err = o.to.Write(b)
		return
	case o.attempt == nil:
		o.attempt = o.try
	}
	o.rest = b
	if err := o.raw.Write(o.attempt); err != nil {
		o.err = err
	}
	o.rest = nil
}

// try writes what is possible without waiting, and reports whether that is the end of it.
func (o *outlet) try(fd uintptr) bool {
	for len(o.rest) > 0 {
		n, err := writeNow(fd, o.rest)
		switch {
		case err == syscall.EAGAIN:
			return false
		case err != nil:
			o.err = err
			return true
		}
		o.rest = o.rest[n:]
	}
	return true
}

// Write takes a copy of b.
func (o *outlet) Write(b []byte) (int, error) {
	o.hold()
	o.copy(b)
	return len(b), o.err
}

// Flush writes everything, and returns the first error that there ever was.
func (o *outlet) Flush() error {
	if o.n > 0 && len(o.run) <= min(joined, bufferSize-o.n) {
		o.hold()
	}
	o.write()
	if len(o.run) > 0 {
		o.put(o.run)
	}
	o.run = nil
	if o.own != nil {
		buffers.Put(o.own)
		o.own = nil
	}
	return o.err
}
