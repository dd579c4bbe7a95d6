package admin

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Figures are what the metrics are made of, at one moment. Names in them are of the configuration, of policies and of
// the catalogue of error codes; none is a user's, or of a statement.
type Figures struct {
	Connections, Sessions, SessionsLimit int64 // open ones; how many sessions there may be
	Begun                                int64 // sessions, in all

	Statements map[string]int64 // by kind
	Errors     map[string]int64 // by SQLSTATE
	Waits      []Wait           // by upper bound, the least first, and the last without one

	Pool *Pool // of guests; nil: each session has one of its own

	Answering                                       int // statements about protected rows
	SearchesRunning, SearchesWaiting, SearchesLimit int // for the noise of many values

	Datasets int
	Budgets  []Budget // nil where the ledger could not be asked
}

// Wait is how often clients waited for at most so long, and longer than the Wait before.
type Wait struct {
	UpTo  time.Duration
	Count uint64
}

// Pool is how many guests there are, how many of them nobody has, how many there may be, and how many clients wait.
type Pool struct{ Guests, Idle, Limit, Waiting int }

// Budget is what an account stands at, in epsilon at the total delta of its limit.
type Budget struct {
	Dataset, Scope, Secret string // Scope is everybody, or a group
	Limit, Left            float64
	Releases               int
}

// metric is one family of metrics: its name, what it says, and its labels.
type metric struct {
	name, help string
	labels     []string
}

// histogram is the only metric that is one.
const histogram = "fugu_protected_wait_seconds"

var account = []string{"dataset", "scope", "secret"}

// catalogue is every metric of Fugu's own. What is not in it cannot be shown; docs/operations.md explains each.
var catalogue = []metric{
	{"fugu_up", "Whether what the proxy needs can be reached: 1, or 0.", []string{"check"}},
	{"fugu_load_success", "Whether what was read last could be taken over: 1, or 0.", []string{"what"}},
	{"fugu_load_timestamp_seconds", "When it was read last, in seconds since 1970.", []string{"what"}},
	{"fugu_datasets", "Datasets that policies protect.", nil},
	{"fugu_connections", "Connections of clients that are open.", nil},
	{"fugu_sessions", "Sessions of clients that are open.", nil},
	{"fugu_sessions_limit", "Sessions that there may be, limits.clients.", nil},
	{"fugu_sessions_begun_total", "Sessions that have begun.", nil},
	{"fugu_statements_total", "Statements that were run, by what they were about.", []string{"kind"}},
	{"fugu_errors_total", "Errors that clients were told by Fugu itself, by SQLSTATE.", []string{"code"}},
	{histogram, "How long clients waited for statements about protected rows to be bound, " +
		"each rounded up to a bound.", nil},
	{"fugu_protected_in_progress", "Statements about protected rows that are being planned or bound.", nil},
	{"fugu_searches_running", "Searches for the noise of many values that are running.", nil},
	{"fugu_searches_waiting", "Searches for the noise of many values that wait for a place.", nil},
	{"fugu_searches_limit", "Searches for the noise of many values that may run at a time.", nil},
	{"fugu_pool_guests", "Guest connections of the pool.", nil},
	{"fugu_pool_guests_idle", "Guest connections of the pool that nobody has.", nil},
	{"fugu_pool_guests_limit", "Guest connections that the pool may have, pool.size.", nil},
	{"fugu_pool_waiting", "Clients that wait for a guest connection of the pool.", nil},
	{"fugu_budget_epsilon", "The limit of an account, at its delta.", account},
	{"fugu_budget_epsilon_left", "What is left of an account, at its delta.", account},
	{"fugu_budget_releases", "Answers that were charged to an account in its period.", account},
}

// Metrics are the labels of every metric that is shown, by its name; a histogram has its parts besides. What names
// metrics, a dashboard say, is checked against it.
func Metrics() map[string][]string {
	out := map[string][]string{}
	for _, m := range catalogue {
		out[m.name] = m.labels
	}
	for name := range process {
		out[name] = nil
	}
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		out[histogram+part] = nil
	}
	out[histogram+"_bucket"] = []string{"le"}
	delete(out, histogram)
	return out
}

// collector makes metrics of figures and of health.
type collector struct {
	figures      func(context.Context) Figures
	health       *Health
	descriptions map[string]*prometheus.Desc
}

func newCollector(figures func(context.Context) Figures, health *Health) *collector {
	c := &collector{figures, health, map[string]*prometheus.Desc{}}
	for _, m := range catalogue {
		c.descriptions[m.name] = prometheus.NewDesc(m.name, m.help, m.labels, nil)
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descriptions {
		out <- d
	}
}

// figuresTime bounds what the ledger is waited for.
const figuresTime = 5 * time.Second

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	ctx, stop := context.WithTimeout(context.Background(), figuresTime)
	defer stop()
	f := c.figures(ctx)
	put := func(kind prometheus.ValueType, name string, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(c.descriptions[name], kind, value, labels...)
	}
	gauge := func(name string, value float64, labels ...string) { put(prometheus.GaugeValue, name, value, labels...) }

	up, loads := c.health.State()
	for check, is := range up {
		gauge("fugu_up", truth(is), check)
	}
	for _, l := range loads {
		gauge("fugu_load_success", truth(l.OK), l.What)
		gauge("fugu_load_timestamp_seconds", float64(l.At.Unix()), l.What)
	}

	// What the proxy counts itself, what it is doing now, and then what the ledger says of budgets.
	gauge("fugu_datasets", float64(f.Datasets))
	gauge("fugu_connections", float64(f.Connections))
	gauge("fugu_sessions", float64(f.Sessions))
	gauge("fugu_sessions_limit", float64(f.SessionsLimit))
	put(prometheus.CounterValue, "fugu_sessions_begun_total", float64(f.Begun))
	for kind, n := range f.Statements {
		put(prometheus.CounterValue, "fugu_statements_total", float64(n), kind)
	}
	for code, n := range f.Errors {
		put(prometheus.CounterValue, "fugu_errors_total", float64(n), code)
	}

	out <- c.waits(f.Waits)
	gauge("fugu_protected_in_progress", float64(f.Answering))
	gauge("fugu_searches_running", float64(f.SearchesRunning))
	gauge("fugu_searches_waiting", float64(f.SearchesWaiting))
	gauge("fugu_searches_limit", float64(f.SearchesLimit))

	if p := f.Pool; p != nil {
		gauge("fugu_pool_guests", float64(p.Guests))
		gauge("fugu_pool_guests_idle", float64(p.Idle))
		gauge("fugu_pool_guests_limit", float64(p.Limit))
		gauge("fugu_pool_waiting", float64(p.Waiting))
	}
	for _, b := range f.Budgets {
		gauge("fugu_budget_epsilon", b.Limit, b.Dataset, b.Scope, b.Secret)
		gauge("fugu_budget_epsilon_left", b.Left, b.Dataset, b.Scope, b.Secret)
		gauge("fugu_budget_releases", float64(b.Releases), b.Dataset, b.Scope, b.Secret)
	}
}

// waits is the histogram. Its sum is that of the upper bounds: nobody keeps how long each one took, so the sum cannot
// tell it. What is beyond all bounds counts as the last of them.
func (c *collector) waits(waits []Wait) prometheus.Metric {
	buckets := map[float64]uint64{}
	var all uint64
	var sum, last float64
	for i, w := range waits {
		all += w.Count
		if i < len(waits)-1 {
			last = w.UpTo.Seconds()
			buckets[last] = all
		}
		sum += last * float64(w.Count)
	}
	return prometheus.MustNewConstHistogram(c.descriptions[histogram], all, sum, buckets)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
