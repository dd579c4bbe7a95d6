package wire

// portal is what the replies to a portal's Execute need.
type portal struct {
	tag   string
	scrub bool
	place func(int32) int32
}

// opened takes note of a portal.
func (s *session) opened(name string, p portal) {
	if s.portals == nil {
		s.portals = map[string]portal{}
	}
	if s.exchange.free() {
		clear(s.portals) // they ended with their transaction
	}
	s.portals[name] = p
}

// errorRules says what is done to the guest's errors about a statement's text: whether they are scrubbed, and how their
// positions are moved. Both go into the entries of the exchange.
func errorRules(st Statement) (scrub bool, place func(int32) int32) {
	if p, ok := st.(Placer); ok {
		place = p.Placed()
	}
	return !st.Ordinary() && place == nil, place
}

// silent reports whether Bind has nothing to say of a statement: the client's messages about it then go to the guest as
// they are, like those about an ordinary one, and the guest has all of the words.
func silent(st Statement) bool {
	r, ok := st.(Relayer)
	return ok && r.Silent()
}
