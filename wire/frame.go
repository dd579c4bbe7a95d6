package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// errMessage is a frame that cannot be: the connection is beyond repair.
var errMessage = errors.New("invalid message")

// header is a frame's type byte and length, which counts itself (manual, "Message Formats").
const header = 5

// maxFrame is the longest frame that is taken for one: PostgreSQL's own are shorter (MaxAllocSize).
const maxFrame = 1 << 30

// frames reads protocol frames.
type frames struct {
	r   *bufio.Reader
	raw []byte // the frame read last, header and all
}

func newFrames(r io.Reader) *frames { return &frames{r: bufio.NewReaderSize(r, 32<<10)} }

// next reads a frame's header, and gives the length of its body in bytes.
func (f *frames) next() (typ byte, length int, err error) {
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
	f.raw = f.raw[:0]
	if cap(f.raw) > 1<<20 {
		f.raw = nil
	}
	for total := header + length; len(f.raw) < total; {
		have := len(f.raw)
		f.raw = slices.Grow(f.raw, min(total-have, max(4096, have)))
		f.raw = f.raw[:min(total, cap(f.raw))]
		if _, err := io.ReadFull(f.r, f.raw[have:]); err != nil {
			return nil, err
		}
	}
	return f.raw[header:], nil
}

// relay passes the frame of the header that next returned on, without holding it. What w does with it is w's concern: an
// error is of reading.
func (f *frames) relay(w io.Writer, length int) error {
	for left := header + length; left > 0; {
		chunk, err := f.r.Peek(min(left, max(1, f.r.Buffered())))
		if err != nil {
			return err
		}
		_, _ = w.Write(chunk)
		_, _ = f.r.Discard(len(chunk))
		left -= len(chunk)
	}
	return nil
}

// skip drops the frame of the header that next returned.
func (f *frames) skip(length int) error {
	_, err := f.r.Discard(header + length)
	return err
}
