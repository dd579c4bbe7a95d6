package mechanism

import "fugu/internal/hook"

// without publishes F as it is. It is what hook.ZeroNoise asks for, and elsewhere the compiler leaves it out.
func (n Noise) without(s Statistics) (Release, error) {
	values, err := n.fitting(s)
	if err != nil || !hook.ZeroNoise {
		return Release{}, err
	}
	r := Release{values: make([]string, len(values))}
	for k, v := range values {
		decimals, finite := v.FloatPrec()
		if !finite {
			decimals += 40 // what repeats for ever is no sum, and no average that PostgreSQL would write out
		}
		r.values[k] = v.FloatString(decimals)
	}
	return r, nil
}
