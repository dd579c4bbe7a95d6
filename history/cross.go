package history

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls work for 0 to n-1 on all processors, and waits.
func parallel(n int, work func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			work(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	all.Wait()
}

// crossing is a release prepared for its products with others, class by class: for each group and row of the reference,
// where in a table by (cell of the other's, cell of this, class) the row counts. Cells and classes are from 1 there, and 0
// is for none.
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

// products adds Σ h_i h_l over the rows of class c, for each component i of the other terms and l of x, to
// out[(i·classes + c)·width + l].
func (x *crossing) products(other *Terms, out []float64) {
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
					x.add(t, stride, oc.At, c.At, out)
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

func (x *crossing) add(table []float64, stride int, rows, columns []int, out []float64) {
	width := x.terms.width
	for a, i := range rows {
		line := table[(a+1)*stride:]
		for b, l := range columns {
			for c := range x.classes {
				out[(i*x.classes+c)*width+l] += line[(b+1)*(x.classes+1)+c+1]
			}
		}
	}
}
