package main

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"gonum.org/v1/gonum/mat"

	"fugu/model"
	"fugu/parser"
	"fugu/planner"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/test/pgcluster"
	"fugu/test/setting"
	"fugu/upstream"
)

// models measures statements over the example's table as the product does, for mechanisms that the product has not.
type models struct {
	reader *upstream.Reader
	table  *planner.Table
	syntax parser.Table
	totals []model.Totals
	spans  []sensitivity.Span
}

func newModels(ctx context.Context, truth *pgx.Conn, cluster *pgcluster.Cluster, both bool) (*models, error) {
	reader, err := upstream.OpenReader(cluster.DSN("fugu_reader", "adult"), time.Minute)
	if err != nil {
		return nil, err
	}
	m := &models{reader: reader, table: &planner.Table{Schema: "public", Name: "adult",
		Reference: "public.adult_reference", Rows: 35222, Domains: map[string][]planner.Value{}}}
	m.syntax = parser.Table{Schema: "public", Name: "adult"}
	// All columns have the database's own collation.
	rows, err := truth.Query(ctx, "SELECT attname, format_type(atttypid, atttypmod), '' FROM pg_attribute "+
		"WHERE attrelid = 'adult'::regclass AND attnum > 0 ORDER BY attnum")
	if err != nil {
		return nil, err
	}
	if m.table.Columns, err = pgx.CollectRows(rows, pgx.RowToStructByPos[planner.Column]); err != nil {
		return nil, err
	}
	for _, c := range m.table.Columns {
		m.syntax.Columns = append(m.syntax.Columns, c.Name)
	}
	if err := m.readDomains(ctx, truth); err != nil {
		return nil, err
	}

	declared := []struct {
		predicate string
		span      sensitivity.Span
	}{{secrets[0].predicate, sensitivity.Span{From: .1, To: .6, Within: .05}},
		{secrets[1].predicate, sensitivity.Span{From: .68, To: .72, Within: .04}}}
	if !both {
		declared = declared[:1]
	}
	for _, s := range declared {
		condition, err := parser.ParsePredicate(s.predicate, m.syntax)
		if err != nil {
			return nil, err
		}
		if condition, err = m.table.Predicate(ctx, reader, condition); err != nil {
			return nil, err
		}
		m.table.Secrets = append(m.table.Secrets, planner.Secret{Name: s.predicate, Predicate: condition,
			Text: s.predicate})
		m.spans = append(m.spans, s.span)
	}
	m.totals, err = model.CountClasses(ctx, reader, m.table)
	return m, err
}

// readDomains finds the public values of keys, as the example's policy declares them.
func (m *models) readDomains(ctx context.Context, truth *pgx.Conn) error {
	for key, sql := range map[string]string{
		"sex":       "VALUES ('Female'), ('Male')",
		"education": "SELECT DISTINCT education FROM adult_reference ORDER BY 1",
		"race":      "SELECT DISTINCT race FROM adult_reference ORDER BY 1",
		"age":       "SELECT generate_series(17, 90)::text",
	} {
		rows, err := truth.Query(ctx, sql)
		if err != nil {
			return err
		}
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, text := range texts {
			m.table.Domains[key] = append(m.table.Domains[key], planner.Value{Text: text})
		}
	}
	return nil
}

func (m *models) close() { m.reader.Close() }

// Table and the rest make models what the parser and the planner look names up in.
func (m *models) Table(_, name string) (parser.Table, bool) { return m.syntax, name == "adult" }
func (m *models) Ordinary(string, string) (parser.Table, error) {
	return parser.Table{}, errors.New("there are no ordinary tables")
}
func (m *models) Protected(string, string) (*planner.Table, bool) { return m.table, true }
func (m *models) VirtualTable(string) (planner.VirtualTable, bool) {
	return planner.VirtualTable{}, false
}

// measured is f_θ of a statement with one aggregate.
type measured struct {
	labels  []string // group keys of F's components
	moments *model.Moments
}

func (m *models) measure(ctx context.Context, sql string) (measured, error) {
	statements, err := parser.Parse(sql, m)
	if err != nil {
		return measured{}, err
	}
	plan, err := planner.New(ctx, statements[0], m, m.reader, nil)
	if err != nil {
		return measured{}, err
	}
	bound, err := plan.Cuts[0].Bind(ctx, m.reader, nil)
	if err != nil {
		return measured{}, err
	}
	out := measured{}
	if out.moments, err = model.Measure(ctx, m.reader, bound, m.totals); err != nil {
		return out, err
	}
	for _, c := range out.moments.Components {
		out.labels = append(out.labels, inOrder(strings.Split(bound.GroupKey(bound.Cells[c.Cell]), ", ")))
	}
	return out, nil
}

// optimal is E|noise| of each cell under the optimal Gaussian mechanism as if the covariances of a pair were equal, and
// nothing certified: over the pairs of every secret, ends a twentieth apart, the noise grows by the positive part of
// what the pair lacks. The first takes the reference for the truth; it is what auto is compared with. The second hides
// as well what one row more of the reference, of one class, would change in whichever cell it is. That is less than
// Fugu hides, which is a row of each class at once, and several where cells were hardly seen.
func (m *models) optimal(f measured, b privacy.Budget) (out [2]map[string]float64, err error) {
	size := len(f.labels)
	for which := range out {
		noise, kappa := mat.NewSymDense(size, nil), privacy.Kappa(b)
		for i, s := range m.spans {
			psi := model.Psi{Name: m.table.Secrets[i].Name, Spans: []sensitivity.Span{s}}
			shifts, err := f.moments.Shifts(i, psi, 0)
			if err != nil {
				return out, err
			}
			more := [][]float64{make([]float64, size)}
			if which == 1 {
				more = append(more, rowsMore(shifts[0])...)
			}
			path := f.moments.Paths(i, psi)[0]
			for p := s.From; p+s.Within <= s.To+1e-9; p += .05 {
				q := p + s.Within
				first, second, before, after := path.Mean(p), path.Mean(q), path.Covariance(p), path.Covariance(q)
				for _, r := range more {
					lacking := mat.NewSymDense(size, nil)
					for k := range size {
						for l := k; l < size; l++ {
							pooled := (before.At(k, l) + after.At(k, l)) / 2
							moved := (second[k] - first[k] + r[k]) * (second[l] - first[l] + r[l])
							lacking.SetSym(k, l, moved/(kappa*kappa)-pooled-noise.At(k, l))
						}
					}
					noise.AddSym(noise, setting.Normals(setting.Noise{Normal: setting.Root(lacking)}, size))
				}
			}
		}
		out[which] = map[string]float64{}
		for k, label := range f.labels {
			out[which][label] = math.Sqrt(noise.At(k, k) * 2 / math.Pi)
		}
	}
	return out, nil
}

// rowsMore are what a row in a single cell adds to the movement along a shift's direction, for each of its unseen rows'
// cells.
func rowsMore(s sensitivity.Shift) (out [][]float64) {
	for _, u := range s.Unseen {
		for i, k := range u.At {
			r := make([]float64, len(s.Along))
			r[k] = float64(u.Sign) * u.Size[i]
			out = append(out, r)
		}
	}
	return out
}
