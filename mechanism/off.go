package mechanism

import (
	"math"

	"fugu/sensitivity"
)

// EpsilonFor is what the noise tells by itself, at δ, of each secret that moves F by other shifts than it was
// calibrated for; +Inf where there is no such ε. It rests on what these shifts rest on.
func (c Calibration) EpsilonFor(shifts []sensitivity.Shift, delta float64) map[string]float64 {
	out := map[string]float64{}
	for _, s := range shifts {
		out[s.Secret] = math.Max(out[s.Secret], c.Noise.loss(s).EpsilonAt(delta))
	}
	return out
}
