package main

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"fugu/channel"
)

// channels prints what columns that are released row by row come to on the census: Grosse et al.'s numbers for sex, and
// how far Kawamoto & Murakami's coupling mechanism moves hours per week.
func channels(ctx context.Context, conn *pgx.Conn) error {
	if err := releasedSex(ctx, conn); err != nil {
		return fmt.Errorf("channels of sex: %w", err)
	}
	if err := printNoisyBits(); err != nil {
		return fmt.Errorf("bits with normal noise: %w", err)
	}
	if err := transportedHours(ctx, conn); err != nil {
		return fmt.Errorf("transport of hours: %w", err)
	}
	return nil
}

// wholeCensus is the SQL of all complete records.
const wholeCensus = `(SELECT sex, hours_per_week, income FROM adult UNION ALL
	SELECT sex, hours_per_week, income FROM adult_reference) AS census`

func releasedSex(ctx context.Context, conn *pgx.Conn) error {
	var rarer float64
	const share = `SELECT least(avg((sex = 'Female')::int), avg((sex <> 'Female')::int))::float8 FROM ` + wholeCensus
	if err := conn.QueryRow(ctx, share).Scan(&rarer); err != nil {
		return err
	}
	const rows, delta = 10_000, 1e-9
	laws := channel.Ball{Center: []float64{rarer, 1 - rarer}, Radius: channel.Radius(2, rows, delta)}

	s := newSheet(fmt.Sprintf("Sex, row by row (Grosse et al., VI-C): estimated from m = %d rows, δ = %g. At ε = .3 "+
		"the paper's β is .0654, b 4.386,\nand what a shown sign tells .0184 nats, .0085 with local differential "+
		"privacy.", rows,
		delta),
		"ε", "β", "Laplace b", "nats: local DP", "Laplace", "optimal")
	for _, epsilon := range []float64{.1, .2, .3} {
		scale := channel.LaplaceScale(epsilon, rarer, laws.Radius)
		local, err := signs(2 / epsilon)
		if err != nil {
			return err
		}
		laplace, err := signs(scale)
		if err != nil {
			return err
		}
		optimal, err := channel.Binary(epsilon, laws)
		if err != nil {
			return err
		}
		cell := func(c channel.Channel) string { return fmt.Sprintf("%.4f", c.Information(laws.Center)) }
		s.row(epsilon, fmt.Sprintf("%.4f", laws.Radius), fmt.Sprintf("%.3f", scale), cell(local), cell(laplace),
			cell(optimal))
	}
	return s.w.Flush()
}

// signs is the channel of Laplace noise of that scale on a bit that is coded as -1 and 1, of which the sign is shown.
func signs(scale float64) (channel.Channel, error) {
	wrong := math.Exp(-1/scale) / 2
	return channel.New([][]float64{{1 - wrong, wrong}, {wrong, 1 - wrong}})
}

func transportedHours(ctx context.Context, conn *pgx.Conn) error {
	const counts = `SELECT hours_per_week::float8, (count(*) FILTER (WHERE income <> '>50K'))::float8,
			(count(*) FILTER (WHERE income = '>50K'))::float8
		FROM ` + wholeCensus + ` GROUP BY 1 ORDER BY 1`
	rows, err := conn.Query(ctx, counts)
	if err != nil {
		return err
	}
	var values []float64
	var laws [3][]float64 // of low and high incomes, and of both together
	var sums [3]float64
	var hours, low, high float64
	_, err = pgx.ForEachRow(rows, []any{&hours, &low, &high}, func() error {
		values = append(values, hours)
		for k, n := range []float64{low, high, low + high} {
			laws[k] = append(laws[k], n)
			sums[k] += n
		}
		return nil
	})
	if err != nil {
		return err
	}
	for k, law := range laws {
		for x := range law {
			law[x] /= sums[k]
		}
	}

	s := newSheet("Hours per week so that both incomes show one law (Kawamoto & Murakami's coupling mechanism): hours "+
		"that a row moves by on average.", "target", "income at most 50K", "above")
	pooled := laws[2]
	s.row("all rows' law: 1.57 and 4.75 expected", fmt.Sprintf("%.4f", channel.Distance(values, laws[0], pooled)),
		fmt.Sprintf("%.4f", channel.Distance(values, laws[1], pooled)))
	s.row("the other's law", fmt.Sprintf("%.4f", channel.Distance(values, laws[0], laws[1])),
		fmt.Sprintf("%.4f", channel.Distance(values, laws[1], laws[0])))
	return s.w.Flush()
}
