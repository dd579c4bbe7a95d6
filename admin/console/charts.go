package console

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// spentCharts are everybody's accounts over time, one chart for each secret of each dataset.
func spentCharts(accounts []Account) (out []Chart) {
	for i, a := range accounts {
		if len(a.History) == 0 {
			continue
		}
		s := Series{Name: "spent by everybody together", Step: true, Marked: len(a.History) <= 60}
		for _, h := range a.History {
			s.Points = append(s.Points, Mark{float64(h.At.Unix()), h.Epsilon,
				fmt.Sprintf("ε %s spent by %s", short(h.Epsilon), clock(h.At))})
		}
		from, to := s.Points[0].X, s.Points[len(s.Points)-1].X
		c := Chart{ID: fmt.Sprintf("spent-%d", i), Title: a.Dataset + ": " + a.Secret,
			Text: fmt.Sprintf("Of ε %s, everybody together has spent %s in %s; the last was charged at %s.",
				short(a.Limit), short(a.Spent), several(a.Answers, "answer"), clock(a.History[len(a.History)-1].At)),
			X: times(from, to), Y: linear("ε spent", 0, 1.05*math.Max(a.Limit, a.Spent)), Series: []Series{s},
			Rule: &Mark{Y: a.Limit, Text: "limit ε " + short(a.Limit)}}
		out = append(out, c)
	}
	return out
}

// times is an axis of moments, in seconds since 1970.
func times(from, to float64) Axis {
	if to-from < 60 {
		from, to = from-30, from+30
	}
	form := "2 Jan"
	switch days := (to - from) / 86400; {
	case days < 2:
		form = "15:04:05"
	case days > 400:
		form = "Jan 2006"
	}
	a := Axis{Label: "time (UTC)", From: from, To: to}
	for i := range 4 {
		v := from + (to-from)*(float64(i)+.5)/4
		a.Ticks = append(a.Ticks, Tick{v, time.Unix(int64(v), 0).UTC().Format(form)})
	}
	return a
}

// drawnPolicy is a policy with its pictures.
type drawnPolicy struct {
	Policy
	Drawn []drawnPicture
}

// drawnPicture is a picture with its charts: the statistic without noise, and with it.
type drawnPicture struct {
	Picture
	Charts []Chart
}

// density is how many points a curve has.
const density = 141

// drawn draws how a statistic is distributed under both values of a pair. The noise is a list of its quantiles, so that
// the law with noise is the average of the law without it, moved by each of them; where they are farther apart than
// that law is wide, each stands for the gap around it.
func drawn(p Picture) drawnPicture {
	d := drawnPicture{Picture: p}
	if p.Problem != nil || len(p.Noise) == 0 {
		return d
	}
	spread := math.Hypot(p.Sampling, p.NoiseSD)
	if spread <= 0 {
		return d
	}
	exact := math.Max(p.Sampling, spread/60) // what does not vary at all is drawn as a narrow peak
	middle, apart := (p.Means[0]+p.Means[1])/2, math.Abs(p.Means[1]-p.Means[0])
	from, to := middle-apart/2-3.5*spread, middle+apart/2+3.5*spread

	// Two charts on one axis, so that one sees what the noise hides.
	label := "value told"
	if p.Relative {
		label = "distance from the middle between both means"
	}
	for i, peaks := range [][]peak{{{0, exact}}, peaksOf(p.Noise, exact)} {
		c := Chart{ID: fmt.Sprintf("law-%s-%d", slug(p.Secret), i), X: linear(label, from, to),
			Title: []string{"Without noise", "With noise"}[i]}
		for j, mean := range p.Means {
			s := Series{Name: fmt.Sprintf("secret %s", p.Values[j]), Dashed: j == 1}
			for k := range density {
				x := from + (to-from)*float64(k)/(density-1)
				y := 0.
				for _, q := range peaks {
					z := (x - mean - q.at) / q.width
					y += math.Exp(-z*z/2) / (q.width * float64(len(peaks)))
				}
				s.Points = append(s.Points, Mark{X: x, Y: y})
			}
			c.Series = append(c.Series, s)
		}
		_, most := extent(c.Series, func(m Mark) float64 { return m.Y })
		c.Y = Axis{Label: "likelihood", From: 0, To: 1.05 * most}
		c.Text = pictureText(p, i == 1)
		d.Charts = append(d.Charts, c)
	}
	return d
}

// peak is a part of a law: normal, around a place.
type peak struct{ at, width float64 }

// peaksOf are the parts of a law with noise of these quantiles, none of them narrower than the law without noise.
func peaksOf(noise []float64, exact float64) (out []peak) {
	sorted := slices.Sorted(slices.Values(noise))
	for i, q := range sorted {
		gap := 0.
		if i > 0 {
			gap = q - sorted[i-1]
		}
		if i < len(sorted)-1 {
			gap = math.Max(gap, sorted[i+1]-q)
		}
		out = append(out, peak{q, math.Max(exact, gap)})
	}
	return out
}

// pictureText says what a picture shows.
func pictureText(p Picture, noisy bool) string {
	sd, what := p.Sampling, "drawing the rows"
	if noisy {
		sd, what = math.Hypot(p.Sampling, p.NoiseSD), "drawing the rows and the noise"
	}
	text := fmt.Sprintf("The means under %s and %s are %s apart; %s moves the value by %s (standard deviation)",
		p.Values[0], p.Values[1], short(math.Abs(p.Means[1]-p.Means[0])), what, short(sd))
	if sd > 0 {
		text += fmt.Sprintf(": they are %s of these apart", short(math.Abs(p.Means[1]-p.Means[0])/sd))
	}
	return text + "."
}

// drawnTwin is a twin with how far counts of its groups are off.
type drawnTwin struct {
	Twin
	Chart *Chart
}

// groupChart draws by how large a group is how far its count is off, in shares of the count.
func groupChart(t Twin) *Chart {
	// One line for each class, in the order in which the groups name them.
	by := map[string]int{}
	var series []Series
	for _, g := range t.Groups {
		i, known := by[g.Class]
		if !known {
			i = len(series)
			by[g.Class] = i
			series = append(series, Series{Name: g.Class, Marked: true, Dashed: i%2 == 1})
		}
		share := 100 * g.Both / float64(g.Rows)
		if share > 0 {
			series[i].Points = append(series[i].Points, Mark{float64(g.Rows), share,
				fmt.Sprintf("a count of %d is off by %s, %s%%", g.Rows, short(g.Both), short(share))})
		}
	}

	lo, hi := extent(series, func(m Mark) float64 { return m.X })
	least, most := extent(series, func(m Mark) float64 { return m.Y })

	// A logarithmic axis has no place for what is exact.
	if !(least > 0) {
		return nil
	}
	return &Chart{ID: "groups-" + slug(t.Table), Title: "How far counts of groups are off",
		Text: fmt.Sprintf("From %s%% of a count of %s rows to %s%% of one of %s.", short(most), short(lo),
			short(least), short(hi)),
		X: logarithmic("rows of the group", lo, hi), Y: logarithmic("error, % of the count", least/1.5, most*1.5),
		Series: series}
}

// noiseCharts are the noise of each column by ε; a column's own variation is the rule to compare it with.
func noiseCharts(curve Curve) (out []Chart) {
	for i, column := range curve.Columns {
		s := Series{Name: "noise", Marked: true}
		for _, p := range curve.Points {
			if sd := p.SD[i]; sd > 0 && !math.IsInf(sd, 0) {
				s.Points = append(s.Points, Mark{p.Epsilon, sd, fmt.Sprintf("at ε %s: sd %s, 95%% within ±%s",
					short(p.Epsilon), short(sd), short(p.Within[i]))})
			}
		}

		// A column without noise has no chart.
		if len(s.Points) == 0 {
			continue
		}
		c := Chart{ID: fmt.Sprintf("noise-%d", i), Title: column.Name, Series: []Series{s}}
		lo, hi := extent(c.Series, func(m Mark) float64 { return m.Y })
		if v := column.Sampling; v > 0 {
			c.Rule = &Mark{Y: v, Text: "sampling alone " + short(v)}
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}

		first, last := s.Points[0], s.Points[len(s.Points)-1]
		c.X = logarithmic("ε", first.X, last.X)
		c.Y = logarithmic("noise (sd)", lo/1.4, hi*1.4)
		c.Text = fmt.Sprintf("The noise falls from %s at ε %s to %s at ε %s.", short(first.Y), short(first.X),
			short(last.Y), short(last.X))
		out = append(out, c)
	}
	return out
}
