//go:build fuguhooks

package corpus

import (
	"context"
	"encoding/binary"
	"net"
	"regexp"
	"strings"
	"sync"
)

// watch reads along what the reader's connections send.
type watch struct {
	sync.Mutex
	asked int // messages that ask for types or look something up in a catalog
	run   int // statements over protected tables or their references that ran
}

// dataset finds the tables of the policies, as Fugu writes them.
var dataset = regexp.MustCompile(`"(orders|patients|visits)(_reference)?"`)

// since returns what was sent after an earlier count.
func (w *watch) since(asked, run int) (int, int) {
	a, r := w.count()
	return a - asked, r - run
}

func (w *watch) count() (asked, run int) {
	w.Lock()
	defer w.Unlock()
	return w.asked, w.run
}

func (w *watch) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	return &watched{Conn: c, watch: w, texts: map[string]string{}}, err
}

type watched struct {
	net.Conn
	watch   *watch
	started bool // the startup message, which has no type, is through
	pending []byte
	texts   map[string]string // of prepared statements, by name
}

// Write splits the stream into the messages of the frontend (manual, section 55.7).
func (c *watched) Write(p []byte) (int, error) {
	c.watch.Lock()
	c.pending = append(c.pending, p...)
	for {
		head := 1
		if !c.started {
			head = 0
		}
		if len(c.pending) < head+4 {
			break
		}
		size := head + int(binary.BigEndian.Uint32(c.pending[head:]))
		if len(c.pending) < size {
			break
		}
		if c.started {
			c.message(c.pending[0], c.pending[5:size])
		}
		c.started = true
		c.pending = c.pending[size:]
	}
	c.watch.Unlock()
	return c.Conn.Write(p)
}

// message counts one message. Only Parse, Bind and Query say what runs; the pool's ping is nothing.
func (c *watched) message(kind byte, body []byte) {
	parts := strings.SplitN(string(body), "\x00", 3)
	text := ""
	switch kind {
	case 'P': // name, text
		c.texts[parts[0]] = parts[1]
		c.watch.asked++
		return
	case 'B': // portal, name
		text = c.texts[parts[1]]
	case 'Q':
		text = parts[0]
	}
	switch {
	case dataset.MatchString(text):
		c.watch.run++
	case text != "" && strings.TrimSpace(text) != "-- ping":
		c.watch.asked++
	}
}
