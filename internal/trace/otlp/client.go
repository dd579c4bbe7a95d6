package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// client posts traces to a collector. OpenTelemetry's own client for this does it with the types of gRPC, and with that
// brings the whole of gRPC into the program, which speaks it with nobody.
type client struct {
	endpoint string
	http     *http.Client
	first    time.Duration // how long the first retry waits; each after it waits twice as long
}

func newClient(endpoint string) *client {
	return &client{endpoint: endpoint, http: &http.Client{Timeout: 10 * time.Second}, first: time.Second}
}

// Start implements otlptrace.Client. There is nothing to connect beforehand.
func (c *client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. A collector that is not there or busy is tried again until ctx ends.
func (c *client) UploadTraces(ctx context.Context, spans []*traces.ResourceSpans) error {
	body, err := packed(spans)
	if err != nil {
		return fmt.Errorf("packing traces: %w", err)
	}
	for wait := c.first; ; wait *= 2 {
		err := c.post(ctx, body)
		var refused refusedError
		if err == nil || errors.As(err, &refused) && !refused.passes() {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// packed is the body of a request. The bytes of TracesData are those of ExportTraceServiceRequest, which is declared
// beside the gRPC service: one field of the same number and type.
func packed(spans []*traces.ResourceSpans) ([]byte, error) {
	data, err := proto.Marshal(&traces.TracesData{ResourceSpans: spans})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (c *client) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	// What is read to its end leaves a connection that can be used again. What a collector has to say is not kept: the
	// answer to a request that was taken may say how many spans were not.
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)); err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return refusedError{answer.StatusCode}
	}
	return nil
}

// refusedError says that a collector did not take traces.
type refusedError struct{ status int }

func (e refusedError) Error() string {
	return fmt.Sprintf("the collector answers %d %s", e.status, http.StatusText(e.status))
}

// passes reports whether OTLP says that the same request may be taken later.
func (e refusedError) passes() bool {
	switch e.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
