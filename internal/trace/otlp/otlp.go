// Package otlp tells an OpenTelemetry collector of the stages of package trace, by OTLP over HTTP.
//
// It adds no attribute of its own but the program's name and version, takes part in nobody else's trace (PostgreSQL's
// protocol has no place for one, and a comment in a statement is the client's word), and keeps no statement waiting:
// what the collector does not take in time is dropped.
package otlp

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"fugu/internal/trace"
	"fugu/sqlstate"
)

// Options say where traces go, and which.
type Options struct {
	Endpoint string  // URL of the collector, with the path; other ways to say it, in the environment, do not count
	Sample   float64 // of all traces, between 0 and 1: so many are sent, chosen by chance
	Version  string  // of the program
	Log      *slog.Logger
}

// Exporter is a trace.Recorder that sends what it is told.
type Exporter struct {
	provider *sdk.TracerProvider
	tracer   api.Tracer
	patience time.Duration // patience, but for tests
}

// Open starts to send. It does not reach for the collector: one that is not there is in the log, and costs no more than
// its traces. There is one Exporter in a process, as OpenTelemetry has one place for errors in a process.
func Open(ctx context.Context, o Options) (*Exporter, error) {
	otel.SetErrorHandler(&complaints{log: o.Log})
	client, err := newClient(o.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("preparing to send traces: %w", err)
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("preparing to send traces: %w", err)
	}

	// The sampler is stated, since OpenTelemetry would take one from the environment.
	about := resource.NewSchemaless(attribute.String("service.name", "fugu"),
		attribute.String("service.version", o.Version))
	p := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(o.Sample))))
	return &Exporter{provider: p, tracer: p.Tracer("fugu"), patience: patience}, nil
}

// patience is how long the collector may take for what is left when the program ends.
const patience = 3 * time.Second

// Close sends what is left, and waits for it as long as its patience lasts, also where ctx has ended.
func (e *Exporter) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.patience)
	defer cancel()
	return e.provider.Shutdown(ctx)
}

// Begin implements trace.Recorder.
func (e *Exporter) Begin(ctx context.Context, s trace.Stage) (context.Context, trace.Record) {
	ctx, span := e.tracer.Start(ctx, string(s))
	return ctx, record{span}
}

// record is one span.
type record struct{ span api.Span }

// Attributes of spans.
const (
	datasetKey   = attribute.Key("fugu.dataset")
	statementKey = attribute.Key("fugu.statement")
	mechanismKey = attribute.Key("fugu.mechanism")
	codeKey      = attribute.Key("db.response.status_code") // OpenTelemetry's name for an SQLSTATE
)

// Tell implements trace.Record.
func (r record) Tell(f trace.Facts) {
	facts := map[attribute.Key]string{
		datasetKey: f.Dataset, statementKey: f.Statement, mechanismKey: f.Mechanism}
	for key, value := range facts {
		if value != "" {
			r.span.SetAttributes(key.String(value))
		}
	}
}

// End implements trace.Record. The description of a failure would be its message, so there is none.
func (r record) End(code sqlstate.Code) {
	if code != "" {
		r.span.SetAttributes(codeKey.String(string(code)))
		r.span.SetStatus(codes.Error, "")
	}
	r.span.End()
}

// complaints logs that traces could not be sent, at most once in a while: a collector that is down would be in the log
// every few seconds.
type complaints struct {
	log  *slog.Logger
	last atomic.Int64 // when, in seconds of Unix time
}

const aWhile = 60 // seconds

// Handle implements otel.ErrorHandler. What it is given is about the collector, and never about a span's content.
func (c *complaints) Handle(err error) {
	now := time.Now().Unix()
	if last := c.last.Load(); now-last >= aWhile && c.last.CompareAndSwap(last, now) {
		c.log.Warn("traces could not be sent, and are lost", "error", err)
	}
}
