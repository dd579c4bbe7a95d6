// Package collector is a collector of OpenTelemetry for tests: it takes traces by OTLP over HTTP, in protobuf, and
// shows what came.
package collector

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// Collector takes traces until the test ends.
type Collector struct {
	URL string

	mu   sync.Mutex
	came []*traces.ResourceSpans
}

// Span is one that came.
type Span struct {
	Name, Trace, ID, Parent string // Parent is empty where a trace begins
	Begun, Ended            time.Time
	Attributes              map[string]string // its own, those of its resource and scope are in Text
}

// Start starts a collector.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.take(r); err != nil {
			t.Error(err)
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}))
	t.Cleanup(s.Close)
	c.URL = s.URL + "/v1/traces"
	return c
}

func (c *Collector) take(r *http.Request) error {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" {
		return fmt.Errorf("%s %s is not how traces are sent", r.Method, r.URL.Path)
	}
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return err
		}
		body = z
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	// Its bytes are those of ExportTraceServiceRequest, whose package brings all of gRPC.
	var request traces.TracesData
	if err := proto.Unmarshal(data, &request); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.came = append(c.came, request.ResourceSpans...)
	return nil
}

// each calls do with every span that came.
func (c *Collector) each(do func(*traces.Span)) {
	for _, r := range c.came {
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				do(s)
			}
		}
	}
}

// Spans are those that came so far.
func (c *Collector) Spans() (out []Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each(func(s *traces.Span) {
		out = append(out, Span{Name: s.Name, Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId),
			Parent: hex.EncodeToString(s.ParentSpanId), Begun: time.Unix(0, int64(s.StartTimeUnixNano)),
			Ended: time.Unix(0, int64(s.EndTimeUnixNano)), Attributes: texts(s.Attributes)})
	})
	return out
}

// texts are attributes as text, whatever their type.
func texts(attributes []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range attributes {
		if s, ok := a.Value.GetValue().(*common.AnyValue_StringValue); ok {
			out[a.Key] = s.StringValue
		} else {
			out[a.Key] = prototext.MarshalOptions{}.Format(a.Value)
		}
	}
	return out
}

// Text is everything that came, but for identifiers and times, in which any digits can stand by chance.
func (c *Collector) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out strings.Builder
	for _, r := range c.came {
		r := proto.CloneOf(r)
		(&Collector{came: []*traces.ResourceSpans{r}}).each(func(s *traces.Span) {
			s.TraceId, s.SpanId, s.ParentSpanId, s.StartTimeUnixNano, s.EndTimeUnixNano = nil, nil, nil, 0, 0
		})
		out.WriteString(prototext.Format(r))
	}
	return out.String()
}
