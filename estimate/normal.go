package estimate

import "gonum.org/v1/gonum/mat"

// normal is a joint normal law.
type normal struct {
	mean       []float64
	covariance *mat.SymDense // may be singular
}

// form is a linear function of a few of the numbers of a normal law.
type form struct {
	at     []int
	weight []float64
}

// one is the form that is a number itself.
func one(k int) form { return form{[]int{k}, []float64{1}} }

// add adds a number with a weight.
func (f *form) add(k int, weight float64) {
	f.at, f.weight = append(f.at, k), append(f.weight, weight)
}

// of is the form's value.
func (f form) of(x []float64) (v float64) {
	for i, k := range f.at {
		v += f.weight[i] * x[k]
	}
	return v
}

// with is the covariance of the form with each of the numbers.
func (n *normal) with(f form) []float64 {
	out := make([]float64, len(n.mean))
	for i, k := range f.at {
		for j := range out {
			out[j] += f.weight[i] * n.covariance.At(k, j)
		}
	}
	return out
}

// determined is the share of a form's first variance below which it counts as known.
const determined = 1e-13

// observe conditions the law on a value of a form that has normal noise of a variance, which may be 0. first is about
// what the form's variance was before anything was observed. A form that is known already has nothing to tell.
func (n *normal) observe(f form, value, noise, first float64) {
	with := n.with(f)
	variance := f.of(with)
	if variance <= determined*first {
		return
	}
	gain := 1 / (variance + noise)
	n.covariance.SymRankOne(n.covariance, -gain, mat.NewVecDense(len(with), with))
	rest := value - f.of(n.mean)
	for j, c := range with {
		n.mean[j] += c * gain * rest
	}
}

// joint is the law of forms.
func (n *normal) joint(forms []form) *normal {
	out := &normal{make([]float64, len(forms)), mat.NewSymDense(max(1, len(forms)), nil)}
	for i, f := range forms {
		out.mean[i] = f.of(n.mean)
		with := n.with(f)
		for j := range i + 1 {
			out.covariance.SetSym(i, j, forms[j].of(with))
		}
	}
	return out
}
