package mechanism

import (
	"math"
	"testing"

	"fugu/sensitivity"
)

// askew are counts of n groups that one secret moves along a line, and another nearly along the same one.
func askew(n int, apart float64) Request {
	r := Request{Budget: budget(1, 1e-3)}
	first, second := sensitivity.Shift{Secret: "first", Beside: make([]float64, n)}, sensitivity.Shift{Secret: "second",
		Beside: make([]float64, n)}
	for k := range n {
		r.Components = append(r.Components, Component{Lattice: 1, Unit: 1, Integer: true})
		v := 200 * math.Cos(float64(3*k))
		first.Along, second.Along = append(first.Along, v), append(second.Along, -.4*v+apart*math.Sin(float64(5*k)))
	}
	r.Shifts = []sensitivity.Shift{second, first}
	return r
}

// What a second secret costs that moves F nearly along the same line: next to nothing, where noise of its own along the
// whole of its line is .4 of the first one's. Each secret's loss is what its own pairs move, in both noises.
func TestNearlyParallelSecretsShareTheirNoise(t *testing.T) {
	for _, absolute := range []bool{false, true} {
		r := askew(20, 4)
		r.Absolute = absolute
		both := calibrated(t, Directional, r)
		alone := r
		alone.Shifts = r.Shifts[1:]
		if one := calibrated(t, Directional, alone); !(both.Error < 1.03*one.Error && both.Error > one.Error) {
			t.Errorf("error %g for both, %g for one", both.Error, one.Error)
		}
		own, other := both.Noise.directions[0], both.Noise.directions[1]
		if own.lent > -.35 || own.lent < -.45 || own.from != 1 || other.lent != 0 {
			t.Fatalf("lent %g of %d, %g", own.lent, own.from, other.lent)
		}
		first, second := float64(other.reach)/float64(other.scale), float64(own.reach)/float64(own.scale)
		for secret, want := range map[string]float64{"first": first, "second": second - own.lent*first} {
			if got := both.Losses[secret].Pure; math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: a pure loss of %g, by hand %g", secret, got, want)
			}
		}

		like := sensitivity.Covariance{}
		for range r.Components {
			like.Blocks = append(like.Blocks, sensitivity.Block{Size: 1, Entries: []float64{0}})
		}
		if got := both.Noise.release(r.Shifts[:1], like).Laplace[20:]; len(got) != 2 ||
			math.Abs(got[0]-second) > 1e-12 || math.Abs(got[1]+own.lent*first) > 1e-12 {
			t.Errorf("the certificate has Laplace parts of %g", got)
		}
	}
}

// Parallel secrets need one noise; secrets that have little in common lend nothing; nor do several movements of one
// secret.
func TestWhatIsLent(t *testing.T) {
	parallel := calibrated(t, Directional, askew(8, 0))
	if d := parallel.Noise.directions; len(d) != 2 || d[0].lent != -.4 && math.Abs(d[0].lent+.4) > 1e-12 ||
		d[0].weights[0] != 0 {
		t.Errorf("parallel: %+v", d)
	}
	if l := parallel.Losses; !(l["second"].Pure < .42*l["first"].Pure) {
		t.Errorf("parallel: %+v", l)
	}
	for name, r := range map[string]Request{"apart": askew(8, 2000), "of one secret": askew(8, 4)} {
		if name == "of one secret" {
			r.Shifts[0].Secret = "first"
		}
		for _, d := range calibrated(t, Directional, r).Noise.directions {
			if d.lent != 0 {
				t.Errorf("%s: lent %g", name, d.lent)
			}
		}
	}
}

// A direction that does not add up to the shift hides nothing of it, and neither does one that borrows of no other.
func TestWhatIsNotHidden(t *testing.T) {
	r := askew(8, 4)
	n := calibrated(t, Directional, r).Noise
	s := r.Shifts[0]
	n.directions[0].lent *= 1.0001
	if _, left, ok := n.hidden(s); ok || left[0] != s.Along[0] {
		t.Errorf("hidden, but for %g of %g", left[0], s.Along[0])
	}
	if l := n.loss(s); l.Pure > .1 || l.Kappa2 < 1 {
		t.Errorf("%+v", l)
	}
	n.directions[0].from = 2
	if n.valid() {
		t.Error("a direction borrows of none")
	}
}

// The law that comes out of a component with both noises, against the same law of F moved as far as the second secret
// moves it: a convolution, exact but for tails. Were what is lent not charged, the loss would claim too little.
func TestLossCoversWhatIsLent(t *testing.T) {
	n := Noise{cells: []cell{{sigma: 40}}, directions: []direction{
		{secret: "other", reach: 160, scale: 160, weights: []float64{.9}}, {secret: "s", reach: 16, scale: 40,
			weights: []float64{.9}, lent: .8}}}
	s := sensitivity.Shift{Secret: "s", Along: []float64{.9*16 + .8*.9*160}, Beside: []float64{0}}
	loss := n.loss(s)
	if want := 16./40 + .8; math.Abs(loss.Pure-want-201./1600) > 1e-9 {
		t.Fatalf("loss %+v", loss)
	}
	const size = 4000
	law := func(f float64) []float64 {
		p := make([]float64, 2*size+1)
		p[size+int(math.Round(f))] = 1
		pmf, reach := gaussianPMF(40), int64(7*40)
		p = convolved(p, pmf, reach, 1)
		for _, d := range n.directions {
			p = convolved(p, laplacePMF(float64(d.scale)), 12*d.scale, d.weights[0])
		}
		return p
	}

	tightest := 0.0
	for _, a := range []float64{-1, -.37, 1} {
		for _, f := range []float64{-.4, .2} {
			p, q := law(f), law(f+a*s.Along[0])
			for _, epsilon := range []float64{.2, .6, .8, loss.Pure, loss.Pure + .5} {
				claimed := loss.DeltaAt(epsilon)
				for _, delta := range []float64{hockeyStick(p, q, epsilon), hockeyStick(q, p, epsilon)} {
					if delta > claimed+1e-4 {
						t.Errorf("shift %g, ε = %.3g: δ = %.6g, claimed %.6g", a*s.Along[0], epsilon, delta, claimed)
					}
				}
			}

			without := loss
			without.Pure -= .8
			tightest = math.Max(tightest, hockeyStick(p, q, without.Pure+.1)-without.DeltaAt(without.Pure+.1))
		}
	}
	if tightest < .01 {
		t.Errorf("were nothing charged for what is lent, δ would be only %g more than claimed: no test of it", tightest)
	}
}

// convolved is the law of a number with law p and round(w·y) besides, y of the given law up to reach either way.
func convolved(p []float64, pmf func(int64) float64, reach int64, w float64) []float64 {
	out := make([]float64, len(p))
	for y := -reach; y <= reach; y++ {
		chance, moved := pmf(y), int(times(w, y).Int64())
		for i := max(0, -moved); i < min(len(p), len(p)-moved); i++ {
			out[i+moved] += chance * p[i]
		}
	}
	return out
}
