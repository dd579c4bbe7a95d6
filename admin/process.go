package admin

import (
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// process are the metrics of the process and of Go's runtime that are shown, with the step to which each is rounded up;
// 0: as it is. Those that are not here would say what no client sees. go_goroutines and process_open_fds move when a
// reading of protected rows ends, which is before its point of the grid of times. Bytes that were allocated or received
// (go_memstats_*, process_network_*) depend on how many digits a true value has. Rounding would not help: whoever can
// open sessions chooses where the next step is.
var process = map[string]float64{
	"process_start_time_seconds":    0,
	"process_max_fds":               0,
	"process_cpu_seconds_total":     1,
	"process_resident_memory_bytes": 16 << 20,
	"go_info":                       0,
	"go_sched_gomaxprocs_threads":   0,
	"go_gc_gogc_percent":            0,
	"go_gc_gomemlimit_bytes":        0,
}

// shown is what is gathered without what is not to be seen.
type shown struct{ prometheus.Gatherer }

// Gather implements prometheus.Gatherer.
func (s shown) Gather() ([]*dto.MetricFamily, error) {
	families, err := s.Gatherer.Gather()
	var out []*dto.MetricFamily
	for _, f := range families {
		step, ok := process[f.GetName()]
		if !ok && !strings.HasPrefix(f.GetName(), "fugu_") {
			continue
		}
		if step > 0 {
			for _, m := range f.Metric {
				coarsen(m, step)
			}
		}
		out = append(out, f)
	}
	return out, err
}

// coarsen rounds a value up to the next multiple of step.
func coarsen(m *dto.Metric, step float64) {
	if g := m.GetGauge(); g != nil && g.Value != nil {
		*g.Value = math.Ceil(*g.Value/step) * step
	}
	if c := m.GetCounter(); c != nil && c.Value != nil {
		*c.Value = math.Ceil(*c.Value/step) * step
	}
}

// Limits of asking for the metrics: each time the ledger is read.
const (
	metricsAtOnce = 2
	metricsTime   = 10 * time.Second
)

// metrics is the page of all metrics, in Prometheus' format.
func metrics(o Options) http.Handler {
	return promhttp.HandlerFor(shown{registry(o)}, promhttp.HandlerOpts{MaxRequestsInFlight: metricsAtOnce,
		Timeout: metricsTime})
}

// registry gathers all that there is, also what is not to be shown.
func registry(o Options) *prometheus.Registry {
	all := prometheus.NewRegistry()
	all.MustRegister(newCollector(o.Figures, o.Health),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewGoCollector(collectors.WithGoCollectorMemStatsMetricsDisabled()))
	return all
}
