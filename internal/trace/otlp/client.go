package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// client posts traces to a collector. OpenTelemetry's own client for this does it with the types of gRPC, and with that
// brings the whole of gRPC into the program, which speaks it with nobody.
type client struct {
	endpoint string
	headers  http.Header
	http     *http.Client
	first    time.Duration // how long the first retry waits; each after it waits twice as long
}

// newClient prepares to post to the endpoint. Headers and the authority of the collector's certificate come from the
// environment, under OpenTelemetry's names.
func newClient(endpoint string) (*client, error) {
	headers, err := parseHeaders(variable("HEADERS"))
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if file := variable("CERTIFICATE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading the authority of the collector's certificate: %w", err)
		}
		authorities := x509.NewCertPool()
		if !authorities.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate in PEM", file)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	}
	return &client{endpoint: endpoint, headers: headers, first: time.Second,
		http: &http.Client{Timeout: 10 * time.Second, Transport: transport}}, nil
}

// variable is what the environment says for traces, or else for whatever is sent by OTLP.
func variable(name string) string {
	if v := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
		return v
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_" + name)
}

// parseHeaders reads headers as OpenTelemetry writes them: name=value, separated by commas, with values that are
// encoded as in a URL. What is wrong is not shown, as it may be a secret.
func parseHeaders(text string) (http.Header, error) {
	headers := http.Header{}
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, found := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !found || name == "" || err != nil {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS: write name=value, with commas between headers and % " +
				"codes for what is special in values")
		}
		headers.Set(name, value)
	}
	return headers, nil
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
	r.Header = c.headers.Clone()
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
