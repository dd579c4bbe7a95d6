package sensitivity

import (
	"math"
	"math/cmplx"
)

// winding is a product of numbers of the right half plane and the sum of their arguments.
type winding struct {
	z      complex128 // the product, turned by quarters into the right half plane
	logs   complex128 // of what was taken out of it
	broken bool
}

// times multiplies by d, real(d) > 0: the product of two numbers of the right half plane has the sum of their arguments
// as its argument.
func (w *winding) times(d complex128) {
	w.z *= d
	re, im := real(w.z), imag(w.z)
	if re <= 0 {
		switch {
		case im > 0:
			w.z, w.logs = complex(im, -re), w.logs+complex(0, math.Pi/2)
		case im < 0:
			w.z, w.logs = complex(-im, re), w.logs-complex(0, math.Pi/2)
		default:
			w.broken = true
		}
	}
	if m := math.Abs(re) + math.Abs(im); !(m > 1e-100 && m < 1e100) {
		w.logs += cmplx.Log(w.z)
		w.z = 1
	}
}

// log returns the sum of the logarithms, NaN where it was lost.
func (w *winding) log() complex128 {
	if w.broken {
		return cmplx.NaN()
	}
	return w.logs + cmplx.Log(w.z)
}
