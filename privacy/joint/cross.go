package joint

// crossing is a release prepared for its products with others, class by class: for each group and row of the reference,
// where in a table by (cell of the other's, cell of this, class) the row counts. Cells and classes are from 1 there,
// and 0 is for none.
type crossing struct {
	terms   *Terms
	classes int
	at      [][]int32
	stride  []int
}

func (t *Terms) crossing(class []int32, classes int) *crossing {
	x := &crossing{terms: t, classes: classes}
	for _, g := range t.groups {
		at := make([]int32, t.rows)
		for r, c := range g.Cells {
			at[r] = int32(c+1)*int32(classes+1) + class[r]
		}
		x.at = append(x.at, at)
		x.stride = append(x.stride, (len(g.Columns[0].At)+1)*(classes+1))
	}
	return x
}

// sums are Σ h_i h_l over the rows of each class, of components i of a stack and l of a release.
type sums struct {
	size, width int
	data        []float64
}

func newSums(size, width, classes int) sums {
	return sums{size, width, make([]float64, classes*width*size)}
}

// of are the sums of a class and a new component with all old ones.
func (s sums) of(class, l int) []float64 { return s.data[(class*s.width+l)*s.size:][:s.size] }

// products adds what the other terms, the stack's from the first component on, have in common with x.
func (x *crossing) products(other *Terms, first int, out sums) {
	var table []float64
	for j, g := range x.terms.groups {
		at, stride := x.at[j], x.stride[j]
		for _, o := range other.groups {
			cells := len(o.Columns[0].At)
			if size := (cells + 1) * stride; len(table) < size {
				table = make([]float64, size)
			}
			for _, oc := range o.Columns {
				for _, c := range g.Columns {
					t := table[:(cells+1)*stride]
					clear(t)
					tabulate(t, stride, o.Cells, oc.Values, at, c.Values)
					x.add(t, stride, oc.At, c.At, first, out)
				}
			}
		}
	}
}

// tabulate sums products of the rows by cells and class.
func tabulate(table []float64, stride int, cells []int16, values []float64, at []int32, others []float64) {
	at = at[:len(cells)]
	switch {
	case values == nil && others == nil:
		for r, c := range cells {
			table[(int(c)+1)*stride+int(at[r])]++
		}
	case others == nil:
		values = values[:len(cells)]
		for r, c := range cells {
			table[(int(c)+1)*stride+int(at[r])] += values[r]
		}
	case values == nil:
		others = others[:len(cells)]
		for r, c := range cells {
			table[(int(c)+1)*stride+int(at[r])] += others[r]
		}
	default:
		values, others = values[:len(cells)], others[:len(cells)]
		for r, c := range cells {
			table[(int(c)+1)*stride+int(at[r])] += values[r] * others[r]
		}
	}
}

func (x *crossing) add(table []float64, stride int, rows, columns []int, first int, out sums) {
	for b, l := range columns {
		for c := range x.classes {
			line, from := out.of(c, l), (b+1)*(x.classes+1)+c+1
			for a, i := range rows {
				line[first+i] += table[(a+1)*stride+from]
			}
		}
	}
}
