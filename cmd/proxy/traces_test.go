package main

import (
	"log/slog"
	"regexp"
	"slices"
	"testing"
	"time"

	"fugu/internal/trace"
	"fugu/internal/trace/otlp"
	"fugu/test/collector"
)

// gridOfTraces is long beside what reading takes, so that a scan which is traced to its true end shows.
const gridOfTraces = 250 * time.Millisecond

// attributeValues are what attributes of spans may be.
var attributeValues = map[string]*regexp.Regexp{
	"fugu.dataset":            regexp.MustCompile(`^adult$`),
	"fugu.statement":          regexp.MustCompile(`^[0-9a-f]{16}$`),
	"fugu.mechanism":          regexp.MustCompile(`^[a-z-]+$`),
	"db.response.status_code": regexp.MustCompile(`^[0-9A-Z]{5}$`),
}

// checkTraces looks at the traces of a proxy to which canaries were sung: they hold none, no attribute but those above,
// each stage, and of a scan no time before the point of the grid at which clients had their answers.
func checkTraces(t *testing.T, c *collector.Collector, canaries []string) {
	t.Helper()
	if got := found(c.Text(), canaries); len(got) > 0 {
		t.Errorf("%q stands in the traces:\n%s", got, c.Text())
	}
	spans := c.Spans()
	byID := map[string]collector.Span{}
	for _, s := range spans {
		byID[s.ID] = s
	}
	begins := []trace.Stage{trace.Interpret, trace.Answer, trace.Explain}
	seen := map[trace.Stage]int{}
	for _, s := range spans {
		stage := trace.Stage(s.Name)
		seen[stage]++
		for key, value := range s.Attributes {
			if p := attributeValues[key]; p == nil || !p.MatchString(value) {
				t.Errorf("%s has the attribute %s = %q", s.Name, key, value)
			}
		}
		whole, within := byID[s.Parent]
		if within == slices.Contains(begins, stage) || within && whole.Trace != s.Trace {
			t.Errorf("%s is part of %q", s.Name, whole.Name)
		}
		if took := s.Ended.Sub(s.Begun); stage == trace.Scan && took < gridOfTraces {
			t.Errorf("a scan is seen to take %v, before the grid's first point", took)
		}
	}
	for _, stage := range []trace.Stage{trace.Interpret, trace.Parse, trace.Plan, trace.Answer, trace.Explain,
		trace.Quote, trace.Price, trace.Charge, trace.Scan, trace.Keep} {
		if seen[stage] == 0 {
			t.Errorf("no %s was traced, of %d spans", stage, len(spans))
		}
	}

	// A canary that is told would be found.
	e, err := otlp.Open(t.Context(), otlp.Options{Endpoint: c.URL, Sample: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, span := trace.Begin(trace.With(t.Context(), e), trace.Scan)
	span.Tell(trace.Facts{Dataset: canaries[0], Statement: canaryWord})
	span.End(new(error))
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := found(c.Text(), canaries); !slices.Equal(got, []string{canaries[0], canaryWord}) {
		t.Errorf("of the canaries that were told %q were found", got)
	}
}
