package sensitivity

import "fugu/privacy/rowsum"

// Remember returns f, keeping what it was asked for: a search for noise asks for the covariances and bends of the same
// values again and again. between is called between the steps of such a search, of which none takes more than some
// milliseconds: it may wait there for as long as others are to go first, and its error ends the search. It is for one
// goroutine.
func Remember(f Family, between func() error) Family {
	m := &memory{Family: f, between: between, covariances: map[float64]Covariance{},
		bends: map[[2]float64]func([]float64) []float64{}, rows: map[int]*rowsum.Sum{}}
	if b, ok := f.(Bent); ok {
		return &bentMemory{m, b}
	}
	return m
}

// memory is a Family that remembers.
type memory struct {
	Family
	between     func() error
	covariances map[float64]Covariance
	bends       map[[2]float64]func([]float64) []float64
	order       *elimination // of the last pencil
	length      int          // of F; 0: not known yet
	size        int          // numbers that are kept
	rows        map[int]*rowsum.Sum
}

type bentMemory struct {
	*memory
	bent Bent
}

// maxMemory is how many numbers are kept: then all are forgotten.
const maxMemory = 1 << 22

// bendSize is about how many numbers a Bend keeps for each component.
const bendSize = 16

func (m *memory) room(n int) {
	if m.size += n; m.size > maxMemory {
		clear(m.covariances)
		clear(m.bends)
		m.size = n
	}
}

// Covariance implements Family. It is not to be changed.
func (m *memory) Covariance(x float64) Covariance {
	c, ok := m.covariances[x]
	if !ok {
		c = m.Family.Covariance(x)
		n := 3 * len(c.Off)
		for _, b := range c.Blocks {
			n += len(b.Entries)
		}
		for _, t := range c.Low {
			n += len(t.Vector)
		}
		m.room(n)
		m.covariances[x] = c
	}
	return c
}

// Cumulants implements Shaped, of a family that does.
func (m *memory) Cumulants(x float64, w []float64) (third, fourth float64, known bool) {
	if s, ok := m.Family.(Shaped); ok {
		return s.Cumulants(x, w)
	}
	return 0, 0, false
}

// Rows implements Summed, of a family that does.
func (m *memory) Rows(k int) *rowsum.Sum {
	s, ok := m.Family.(Summed)
	if !ok {
		return nil
	}
	if _, known := m.rows[k]; !known {
		m.rows[k] = s.Rows(k)
	}
	return m.rows[k]
}

// components is the length of F.
func (m *memory) components() int {
	if m.length == 0 {
		m.length = m.Covariance(m.Span().From).Len()
	}
	return m.length
}

// Bend implements Bent.
func (m *bentMemory) Bend(a, b float64) func([]float64) []float64 {
	bend, ok := m.bends[[2]float64{a, b}]
	if !ok {
		bend = m.bent.Bend(a, b)
		m.room(bendSize * m.components())
		m.bends[[2]float64{a, b}] = bend
	}
	return bend
}

// remembered returns the memory of a family; of one that has none, a new one.
func remembered(f Family) *memory {
	switch m := f.(type) {
	case *memory:
		return m
	case *bentMemory:
		return m.memory
	}
	return &memory{between: func() error { return nil }}
}

// Effort is about how many multiplications a search for noise over the family's pairs takes.
func Effort(f Family) float64 {
	const (
		steps = 500 // evaluations of a search, besides those of the boxes
		each  = 100 // multiplications for a component by itself
	)
	sp := f.Span()
	c := f.Covariance(sp.From)
	c = c.Plus(1, f.Covariance(sp.To)) // what meets in either
	pairs := c.meet()
	m := c.Len()
	work := each * float64(m)
	if o := &remembered(f).order; !(*o).holds(m, pairs) {
		*o = newElimination(m, pairs)
		work += (*o).work()
	} else {
		work += (*o).work()
	}
	boxes := 2 * coarse * (sp.To - sp.From) / sp.Within
	return (steps + boxes) * work
}
