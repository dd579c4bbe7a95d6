package wire

// begin takes note that the client has sent something, which may depend on the guest. It reports false where that was
// lost.
func (x *exchange) begin() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.handling = !x.lost
	return x.handling
}

// rest takes note that everything that the client sent has been pushed.
func (x *exchange) rest() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.handling = false
}

// renew takes note of another guest, and of a message for it.
func (x *exchange) renew() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lost, x.handling, x.status = false, true, statusIdle
}

// unbound reports whether nothing is outstanding or unfinished, nor can anything more come.
func (x *exchange) unbound() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.loose()
}

func (x *exchange) loose() bool {
	return len(x.entries) == 0 && !x.open && !x.skipping && !x.copyIn && x.status == statusIdle && x.stray == 0 &&
		!x.closed
}

// lose takes note that the guest has ended. It reports false where something depended on it.
func (x *exchange) lose() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lost = x.lost || x.loose() && !x.handling
	return x.lost
}
