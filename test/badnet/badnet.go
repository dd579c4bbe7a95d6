// Package badnet is a network that goes wrong on demand: it carries connections to an address and delays, splits, holds
// back or resets them. It is for tests of what stands on either side.
package badnet

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Weather is how the network behaves. The zero value carries everything at once.
type Weather struct {
	Delay  time.Duration // of everything that is carried, in both directions
	Pieces int           // most bytes that arrive at a time; 0: as many as were sent
	Frozen bool          // nothing is carried, and nobody is told
	Closed bool          // new connections are reset
}

// Network carries connections until it is closed. It is safe for concurrent use.
type Network struct {
	target   string
	listener net.Listener
	ctx      context.Context
	stop     context.CancelFunc
	running  sync.WaitGroup
	resetIn  atomic.Int64 // bytes from the target until a connection is reset; 0: never

	mu      sync.Mutex
	weather Weather
	changed chan struct{} // closed when the weather changes
	links   map[*link]struct{}
}

// New returns a network that carries to target what connects to its own address.
func New(target string) (*Network, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	n := &Network{target: target, listener: l, ctx: ctx, stop: stop, changed: make(chan struct{}),
		links: map[*link]struct{}{}}
	n.running.Go(n.accept)
	return n, nil
}

// Address is where to connect, host and port.
func (n *Network) Address() string { return n.listener.Addr().String() }

// Port is the port of Address.
func (n *Network) Port() int { return n.listener.Addr().(*net.TCPAddr).Port }

// Set changes the weather, also of connections that are there already.
func (n *Network) Set(w Weather) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.weather = w
	close(n.changed)
	n.changed = make(chan struct{})
}

// Reset resets every connection, on both sides, and says how many there were.
func (n *Network) Reset() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	for l := range n.links {
		l.reset()
	}
	return len(n.links)
}

// ResetAfter resets the connection that carries the given byte from the target, counted from now on over all
// connections. What comes before it arrives.
func (n *Network) ResetAfter(bytes int64) { n.resetIn.Store(bytes) }

// Left is how many bytes are left until ResetAfter's reset; 0: it has come, or none is due.
func (n *Network) Left() int64 { return n.resetIn.Load() }

// Links is the number of connections.
func (n *Network) Links() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.links)
}

// Close resets what is left and waits until nothing of the network runs.
func (n *Network) Close() {
	n.stop()
	_ = n.listener.Close()
	n.Reset()
	n.running.Wait()
}

func (n *Network) now() (Weather, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.weather, n.changed
}

func (n *Network) accept() {
	for {
		near, err := n.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		} else if err != nil {
			continue // out of file descriptors, usually
		}
		n.running.Go(func() { n.carry(near.(*net.TCPConn)) })
	}
}

// link is one connection that is carried.
type link struct {
	near, far *net.TCPConn
	once      sync.Once
	done      chan struct{}
}

// reset makes both sides see a connection reset by its peer.
func (l *link) reset() {
	l.once.Do(func() {
		close(l.done)
		for _, c := range []*net.TCPConn{l.near, l.far} {
			_ = c.SetLinger(0)
			_ = c.Close()
		}
	})
}

func (n *Network) carry(near *net.TCPConn) {
	w, _ := n.now()
	var far net.Conn
	err := errors.New("closed")
	if !w.Closed {
		far, err = new(net.Dialer).DialContext(n.ctx, "tcp", n.target)
	}
	if err != nil {
		_ = near.SetLinger(0)
		_ = near.Close()
		return
	}
	l := &link{near: near, far: far.(*net.TCPConn), done: make(chan struct{})}
	n.mu.Lock()
	n.links[l] = struct{}{}
	n.mu.Unlock()
	defer func() {
		l.once.Do(func() {
			close(l.done)
			_ = l.near.Close()
			_ = l.far.Close()
		})
		n.mu.Lock()
		delete(n.links, l)
		n.mu.Unlock()
	}()
	if n.ctx.Err() != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { n.copy(l, l.far, l.near, nil) })
	both.Go(func() { n.copy(l, l.near, l.far, &n.resetIn) })
	both.Wait()
}

// copy carries one direction until its end, and then says so to the other side. resetIn counts its bytes down.
func (n *Network) copy(l *link, to, from *net.TCPConn, resetIn *atomic.Int64) {
	buf := make([]byte, 16<<10)
	for {
		k, err := from.Read(buf)
		for data := buf[:k]; len(data) > 0; {
			w, ok := n.await(l)
			if !ok {
				return
			}
			piece := data
			if w.Pieces > 0 {
				piece = data[:min(len(data), w.Pieces)]
			}
			data = data[len(piece):]
			piece, last := countDown(resetIn, piece)
			if _, err := to.Write(piece); err != nil {
				l.reset()
				return
			}
			if last {
				// A reset discards what the receiver has not been given yet: let it arrive.
				time.Sleep(2 * time.Millisecond)
				l.reset()
				return
			}
		}
		if err != nil {
			var reset *net.OpError
			if errors.As(err, &reset) && !errors.Is(err, net.ErrClosed) {
				l.reset()
				return
			}
			_ = to.CloseWrite()
			return
		}
	}
}

// countDown cuts a piece off where its connection is to be reset.
func countDown(in *atomic.Int64, piece []byte) (_ []byte, last bool) {
	if in == nil {
		return piece, false
	}
	for {
		left := in.Load()
		if left <= 0 {
			return piece, false
		}
		k := min(left, int64(len(piece)))
		if in.CompareAndSwap(left, left-k) {
			return piece[:k], left == k
		}
	}
}

// await lets the delay pass and the frost end. It reports false where the connection has ended meanwhile.
func (n *Network) await(l *link) (Weather, bool) {
	for {
		w, changed := n.now()
		var wait <-chan time.Time
		switch {
		case w.Frozen:
		case w.Delay > 0:
			t := time.NewTimer(w.Delay)
			defer t.Stop()
			wait = t.C
		default:
			return w, true
		}
		select {
		case <-l.done:
			return w, false
		case <-wait:
			return w, true
		case <-changed:
		}
	}
}
