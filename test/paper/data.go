package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"fugu/test/setting"
)

// record is one complete record of the census.
type record struct {
	values []float64 // in the order of setting.Statistics
	in     map[string]bool
}

// secret is one of the paper's two sensitive properties: the share of records with the predicate.
type secret struct {
	name, title string
	predicate   string
	delta       float64 // Δp of Figure 2
}

var secrets = []secret{
	{"income", "Income", "income = '>50K'", .1},
	{"work", "Work class", "workclass = 'Private'", .04},
}

// between is the secret pair at Δp: proportions that far apart around one half.
func between(delta float64) (a, b float64) { return .5 - delta/2, .5 + delta/2 }

// census is the data set divided as in section 5.1: records to implement the attack, to test it, and to model F.
type census struct {
	auxiliary, testing, modelling []record
}

// readCensus reads the tables that test/adult loaded: the 10,000 reference records are auxiliary, and the protected
// ones in the order of their hash for testing (10,000) and modelling.
func readCensus(ctx context.Context, conn *pgx.Conn) (census, error) {
	const columns = "age, education_num, (marital_status = 'Never-married')::int, (sex = 'Female')::int, hours_per_week"
	read := func(table string) ([]record, error) {
		sql := fmt.Sprintf("SELECT %s, %s, %s FROM %s AS t ORDER BY md5(t::text) COLLATE \"C\"", columns,
			secrets[0].predicate, secrets[1].predicate, table)
		rows, err := conn.Query(ctx, sql)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, func(r pgx.CollectableRow) (record, error) {
			v, in := make([]int, 5), [2]bool{}
			if err := r.Scan(&v[0], &v[1], &v[2], &v[3], &v[4], &in[0], &in[1]); err != nil {
				return record{}, err
			}
			out := record{in: map[string]bool{}}
			for _, x := range v {
				out.values = append(out.values, float64(x))
			}
			for i, s := range secrets {
				out.in[s.name] = in[i]
			}
			return out, nil
		})
	}
	auxiliary, err := read("adult_reference")
	if err != nil {
		return census{}, err
	}
	rest, err := read("adult")
	if err != nil || len(rest) <= 10_000 {
		return census{}, fmt.Errorf("%d protected records: %w", len(rest), err)
	}
	return census{auxiliary, rest[:10_000], rest[10_000:]}, nil
}

// pool is a set of records by class of a secret.
type pool [2][]record

func divide(records []record, s secret) pool {
	var p pool
	for _, r := range records {
		class := 0
		if r.in[s.name] {
			class = 1
		}
		p[class] = append(p[class], r)
	}
	return p
}

// classes estimates the class moments of one record's values.
func (p pool) classes() setting.Classes {
	var c setting.Classes
	for class, records := range p {
		x := mat.NewDense(len(records), len(setting.Statistics), nil)
		for i, r := range records {
			x.SetRow(i, r.values)
			c.Rows[class] = append(c.Rows[class], r.values)
		}
		c.Cov[class] = new(mat.SymDense)
		stat.CovarianceMatrix(c.Cov[class], x, nil)
		for k := range setting.Statistics {
			c.Mean[class] = append(c.Mean[class], stat.Mean(mat.Col(nil, k, x), nil))
		}
	}
	return c
}

// rows are the records of a dataset by class of a secret.
type rows [2][]record

// draw draws 100 records without replacement of which a share p has the secret's predicate.
func (p pool) draw(share float64, rng *rand.Rand) (out rows) {
	for class, n := range [2]int{setting.Records - int(share*setting.Records+.5), int(share*setting.Records + .5)} {
		drawn := make(map[int]bool, n)
		for len(drawn) < n {
			i := rng.IntN(len(p[class]))
			if drawn[i] {
				continue
			}
			drawn[i] = true
			out[class] = append(out[class], p[class][i])
		}
	}
	return out
}

// statistics are F of a dataset.
func (r rows) statistics() []float64 {
	sum := make([]float64, len(setting.Statistics))
	for _, records := range r {
		for _, one := range records {
			for k, v := range one.values {
				sum[k] += v
			}
		}
	}
	return setting.F(sum, setting.Records)
}

// dataset draws a dataset and returns F of it.
func (p pool) dataset(share float64, rng *rand.Rand) []float64 {
	return p.draw(share, rng).statistics()
}
