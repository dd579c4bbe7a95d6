package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"fugu/policy"
	"fugu/privacy"
	"fugu/test/setting"
	"fugu/twin"
)

// byTwin is the twin of a dataset, by package twin: pure ε, no model of F.
var byTwin = defence{"twin", func(_ setting.Classes, delta float64, b privacy.Budget) (defended, error) {
	from, to := between(delta)
	secret := policy.Secret{Name: "s", About: policy.AboutDataset, Proportion: "s", Listed: true,
		Spans: []policy.Span{{From: from, To: to, Within: to - from}}}
	d, err := twin.New(twin.Spec{Rows: setting.Records, Epsilon: float64(b.Epsilon),
		Secrets: []twin.Secret{{Secret: secret}}})
	if err != nil {
		return defended{}, err
	}
	return defended{
		table: func(r rows, rng *rand.Rand) (rows, error) { return makeTwin(d, r, rng) },
		delta: func(epsilon float64) (string, error) {
			a, b := int64(from*setting.Records+.5), int64(to*setting.Records+.5)
			if loss := d.Loss(0, []int64{a, setting.Records - a}, []int64{b, setting.Records - b},
				0); loss > epsilon+2./1024 {
				return "", fmt.Errorf("a loss of %g", loss)
			}
			return "0", nil
		},
		claim: "0", charge: fmt.Sprintf("%.3g", d.Epsilon),
	}, nil
}}

// makeTwin draws the twin of a dataset: noisy counts, rows, and copies of them.
func makeTwin(d *twin.Design, r rows, rng *rand.Rand) (out rows, err error) {
	// The twin's first class is the one with the predicate, which is the second of rows.
	noisy, err := d.Draw(bytesOf{rng}, []int64{int64(len(r[1])), int64(len(r[0]))})
	if err != nil {
		return out, err
	}
	take, err := d.Take(noisy)
	if err != nil {
		return out, err
	}
	for c := range take {
		class := 1 - c
		each, more, err := twin.Copies(noisy[c], take[c])
		if err != nil {
			return out, err
		}
		for i, at := range rng.Perm(len(r[class]))[:take[c]] {
			copies := each
			if int64(i) < more {
				copies++
			}
			for range copies {
				out[class] = append(out[class], r[class][at])
			}
		}
	}
	return out, nil
}

// bytesOf are random bytes that can be had again.
type bytesOf struct{ *rand.Rand }

func (r bytesOf) Read(p []byte) (int, error) {
	for i := 0; i < len(p); i += 8 {
		copy(p[i:], binary.LittleEndian.AppendUint64(nil, r.Uint64()))
	}
	return len(p), nil
}
