package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// errMessage is a frame that cannot be: the connection is beyond repair. What is wrong within a frame, PostgreSQL tells
// (session.malformed).
var errMessage = errors.New("invalid message")

// header is a frame's type byte and length, which counts itself (manual, "Message Formats").
const header = 5

// maxFrame is the longest frame that is taken for one: PostgreSQL's own are shorter (MaxAllocSize).
const maxFrame = 1 << 30

// maxSmall is the longest frame of the types that hold no text of the client's (PQ_SMALL_MESSAGE_LIMIT).
const maxSmall = 10_000

// small is b, or nothing if b is more than a connection that waits is to hold.
func small(b []byte) []byte {
	if cap(b) > bufferSize {
		return nil
	}
	return b
}

// frames reads protocol frames.
type frames struct {
	r   *inlet
	raw []byte // the frame read last, header and all
	big []byte // where raw is, if it does not fit into a buffer
}

func newFrames(r io.Reader) *frames { return &frames{r: newInlet(r)} }

// next reads a frame's header, and gives the length of its body in bytes.
func (f *frames) next() (typ byte, length int, err error) {
	if f.r.Buffered() == 0 {
		f.raw, f.big = nil, nil // for who waits long
	}
	h, err := f.r.Peek(header)
	if err != nil {
		if errors.Is(err, io.EOF) && len(h) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return 0, 0, err
	}
	n := binary.BigEndian.Uint32(h[1:])
	if n < 4 || n > maxFrame {
		return 0, 0, fmt.Errorf("%w: length %d of type %q", errMessage, n, h[0])
	}
	return h[0], int(n) - 4, nil
}

// read reads the frame of the header that next returned. The body is good until the next call. Memory grows with the
// bytes that come, not with the length that the header claims.
func (f *frames) read(length int) (body []byte, err error) {
	total := header + length
	if total <= bufferSize {
		f.big = nil
		if _, err := f.r.Peek(total); err != nil {
			return nil, err
		}
		f.raw = f.r.take(total)
		return f.raw[header:], nil
	}

	// A large frame has a buffer of its own, which the next large one may use if it was none of the largest.
	if f.big = f.big[:0]; cap(f.big) > 1<<20 {
		f.big = nil
	}
	for len(f.big) < total {
		have := len(f.big)
		f.big = slices.Grow(f.big, min(total-have, max(bufferSize, have)))
		f.big = f.big[:min(total, cap(f.big))]
		if _, err := io.ReadFull(f.r, f.big[have:]); err != nil {
			return nil, err
		}
	}

	f.raw = f.big
	return f.raw[header:], nil
}

// passer takes bytes that stay as they are until the frames are read on from their source: it is flushed before.
type passer interface{ pass(b []byte) }

// relay passes the frame of the header that next returned on, without holding it. What w does with it is w's concern:
// an error is of reading.
func (f *frames) relay(w passer, length int) error {
	for left := header + length; left > 0; {
		if _, err := f.r.Peek(1); err != nil {
			return err
		}
		b := f.r.take(min(left, f.r.Buffered()))
		w.pass(b)
		left -= len(b)
	}
	return nil
}

// relayAlike passes on the frames that come next, for as long as they have the type and have come as a whole.
func (f *frames) relayAlike(w passer, typ byte) {
	b, n := f.r.buffered(), 0
	for len(b)-n >= header && b[n] == typ {
		length := binary.BigEndian.Uint32(b[n+1:])
		if length < 4 || uint64(length) >= uint64(len(b)-n) {
			break
		}
		n += 1 + int(length)
	}
	if n > 0 {
		w.pass(f.r.take(n))
	}
}

// skip drops the frame of the header that next returned.
func (f *frames) skip(length int) error { return f.r.Discard(header + length) }
