package sensitivity

import "context"

// Remember returns f, keeping what it was asked for: a search for noise asks for the covariances and bends of the same
// values again and again. Bounds over what it returns fail as soon as ctx ends. It is for one goroutine.
func Remember(ctx context.Context, f Family) Family {
	m := &memory{Family: f, err: ctx.Err, covariances: map[float64]Covariance{}, bends: map[[2]float64][]float64{}}
	if b, ok := f.(Bent); ok {
		return &bentMemory{m, b}
	}
	return m
}

// memory is a Family that remembers.
type memory struct {
	Family
	err         func() error // of the context
	covariances map[float64]Covariance
	bends       map[[2]float64][]float64
	order       *elimination // of the last pencil
	size        int          // numbers that are kept
}

type bentMemory struct {
	*memory
	bent Bent
}

// maxMemory is how many numbers are kept: then all are forgotten.
const maxMemory = 1 << 22

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

// Bend implements Bent.
func (m *bentMemory) Bend(a, b float64) []float64 {
	rho, ok := m.bends[[2]float64{a, b}]
	if !ok {
		rho = m.bent.Bend(a, b)
		m.room(len(rho))
		m.bends[[2]float64{a, b}] = rho
	}
	return rho
}

// remembered returns the memory of a family; of one that has none, a new one.
func remembered(f Family) *memory {
	switch m := f.(type) {
	case *memory:
		return m
	case *bentMemory:
		return m.memory
	}
	return &memory{err: func() error { return nil }}
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
