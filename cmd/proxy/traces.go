package main

import (
	"context"

	"fugu/internal/trace/otlp"
)

// trace starts to send traces, where fugu.yaml names a collector. The last of them leave when stop is called.
func (s *served) trace(ctx context.Context) (stop func(), err error) {
	c := s.house.config.Tracing
	if c.Endpoint == "" {
		return func() {}, nil
	}
	s.traces, err = otlp.Open(ctx, otlp.Options{Endpoint: c.Endpoint, Sample: c.Sample, Version: built().String(),
		Log: s.log})
	if err != nil {
		return nil, err
	}
	s.log.Info("statements about protected rows are traced", "collector", c.Endpoint, "sample", c.Sample)
	return func() {
		if err := s.traces.Close(ctx); err != nil {
			s.log.Warn("the last traces could not be sent", "error", err)
		}
	}, nil
}
