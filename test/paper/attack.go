package main

import (
	"math/rand/v2"

	"fugu/test/falsify"
)

// accuracy is that of the paper's property inference attack (section 5.3): a logistic regression is trained on F of 200
// datasets of auxiliary records, half with each value of the secret, and tested on 200 of testing records; the mean
// over repetitions. The defence adds noise to what is tested. The paper trains on clean features; noised trains on
// defended ones, as an attacker does who knows the mechanism.
func accuracy(d defended, auxiliary, testing pool, delta float64, repetitions int, noised bool,
	rng *rand.Rand) (float64, error) {
	const half = 100
	a, b := between(delta)
	right := 0
	for range repetitions {
		var train [2][][]float64
		for i, share := range []float64{a, b} {
			for range half {
				r := auxiliary.draw(share, rng)
				f := r.statistics()
				if noised {
					var err error
					if f, err = d.told(r, rng); err != nil {
						return 0, err
					}
				}
				train[i] = append(train[i], f)
			}
		}
		score, err := falsify.TrainLogistic(train[0], train[1], false)
		if err != nil {
			return 0, err
		}
		for i, share := range []float64{a, b} {
			for range half {
				f, err := d.told(testing.draw(share, rng), rng)
				if err != nil {
					return 0, err
				}
				if (score(f) > 0) == (i == 0) {
					right++
				}
			}
		}
	}
	return float64(right) / float64(2*half*repetitions), nil
}
