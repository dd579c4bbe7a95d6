package quote

import (
	"fugu/mechanism"
	"fugu/privacy/joint"
	"fugu/sensitivity"
)

// structBytes is about what a small struct takes, or an entry of a map, with a string or two in it.
const structBytes = 64

// size is how many bytes a quote keeps alive, about: of what grows with the statement everything, and of the rest a
// rounded sum. What several quotes hold together counts for each.
func (m *Quote) size() int {
	n := 16*structBytes + 8*(len(m.Index)+len(m.Inherent)+len(m.Expected)) + len(m.Integer) +
		calibrationSize(m.Calibration)

	// What is asked: the statistics statements, and what is bound to them.
	for _, q := range m.Questions {
		n += 2*structBytes + len(q.SQL) + q.Cut.Size()
		for _, arg := range q.Args {
			n += structBytes + len(arg)
		}
		for _, row := range q.Component {
			n += 24 + 8*len(row)
		}
	}

	// What the noise was calibrated by.
	for _, s := range m.Shifts {
		n += shiftSize(s)
	}
	for _, q := range m.Quilts {
		n += structBytes + len(q.Near) + len(q.Quilt)
	}
	for _, of := range m.Sums {
		n += structBytes + 8*len(of.Components)
	}
	for _, r := range m.Start {
		n += structBytes + (r.Num().BitLen()+r.Denom().BitLen())/8
	}

	// What is told beside the values.
	for _, l := range m.Labels {
		n += 32 + len(l.Column) + len(l.Group)
	}
	n += stringsSize(m.Public) + stringsSize(m.Sources) + stringsSize(m.Vectors)
	for _, b := range m.Bounds {
		n += 24 + stringsSize(b)
	}

	return n + m.termsSize() + layersSize(m.Layers)
}

func calibrationSize(c mechanism.Calibration) int {
	n := c.Noise.Size() + 8*len(c.SD) + 2*structBytes*len(c.Losses)
	for _, x := range c.Certificates {
		n += 2*structBytes + stringsSize(x.Assumptions)
	}
	return n
}

func shiftSize(s sensitivity.Shift) int {
	n := 3*structBytes + 8*(len(s.Along)+len(s.Beside)+len(s.Error))
	for _, u := range s.Unseen {
		n += 2*structBytes + 24*len(u.At) + len(u.Shown)
	}
	if x := s.Scatter; x != nil {
		n += 3*structBytes + 8*(len(x.Variance)+len(x.Second)+len(x.Extent)+len(x.Cell)+len(x.Layer))
	}
	return n
}

// termsSize is that of what the answer brings into accounts: its terms as the ledger keeps them, as bytes and read.
func (m *Quote) termsSize() (n int) {
	if m.Joint != nil {
		n += len(m.Joint.Bytes)
		for _, p := range m.Joint.Parts {
			n += 8*structBytes + 2*len(p.Terms) + releaseSize(p.Release)
		}
	}
	if m.Spreads != nil {
		n += len(m.Spreads.Bytes)
		for _, p := range m.Spreads.Parts {
			n += 8*structBytes + 2*len(p.Terms) + 8*len(p.Noise)
		}
	}
	return n
}

func releaseSize(r joint.Release) int {
	n := 8*len(r.Noise) + len(r.Still) + 2*structBytes*len(r.Hidden)
	for _, line := range r.Lines {
		n += 24 + 8*len(line)
	}
	return n
}

func layersSize(layers []Layer) (n int) {
	for _, l := range layers {
		n += 4 * structBytes
		for name, components := range l.Values {
			n += structBytes + len(name) + 8*len(components)
		}
		n += stringsSize(l.Axes) + stringsSize(l.Manner)
		for cell := range l.Cells {
			n += structBytes + len(cell)
		}
	}
	return n
}

func stringsSize(texts []string) (n int) {
	for _, t := range texts {
		n += 16 + len(t)
	}
	return n
}
