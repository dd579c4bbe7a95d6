package mechanism

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"testing"
)

func statistics(values ...float64) Statistics {
	rats := make([]*big.Rat, len(values))
	for k, v := range values {
		rats[k] = new(big.Rat).SetFloat64(v)
	}
	return NewStatistics(rats)
}

func TestStatisticsAreWithheld(t *testing.T) {
	s := statistics(8675309.25)
	check := func(how, text string) {
		if strings.Contains(text, "8675309") || strings.Contains(text, "34701237") ||
			strings.Contains(strings.ToLower(text), "845fed") {
			t.Errorf("%s shows %s", how, text)
		}
	}

	type wrapped struct {
		Public  Statistics
		private Statistics
		list    []Statistics
	}
	w := wrapped{s, s, []Statistics{s}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q", "%g", "%p", "%T", "%08.3f"} {
		if got := fmt.Sprintf(verb, s); verb != "%T" && verb != "%p" && got != "[withheld]" {
			t.Errorf("%s of statistics: %q", verb, got)
		}
		for _, v := range []any{s, &s, w, &w, []Statistics{s}, map[string]Statistics{"x": s}} {
			check(verb, fmt.Sprintf(verb, v))
		}
	}

	check("String", s.String())
	for how, marshal := range map[string]func(any) ([]byte, error){
		"json": json.Marshal, "xml": xml.Marshal,
		"gob": func(v any) ([]byte, error) {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(v)
			return b.Bytes(), err
		},
	} {
		for _, v := range []any{s, w} {
			b, err := marshal(v)
			if err == nil {
				t.Errorf("%s of %T succeeds", how, v)
			}
			check(how, string(b)+fmt.Sprint(err))
		}
	}

	if _, err := s.MarshalText(); err == nil {
		t.Error("marshals to text")
	}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Info("m", "s", s, "w", w, "list", []Statistics{s}, slog.Group("g", "s", &s))
	}
	if v := slog.AnyValue(s).Resolve(); v.Kind() != slog.KindString || v.String() != "[withheld]" {
		t.Errorf("logged as %v", v)
	}
	check("slog", log.String())
	if strings.Count(log.String(), "withheld") < 4 {
		t.Errorf("log: %s", &log)
	}
}

func TestStatisticsAreCopied(t *testing.T) {
	v := big.NewRat(1000, 1)
	c := calibrated(t, ExpmLaplace, counts(1, budget(1, 0)))
	s := NewStatistics([]*big.Rat{v})
	before, _ := c.Noise.Release(seeded(3), s)
	v.SetInt64(-1e9)
	if after, _ := c.Noise.Release(seeded(3), s); !slices.Equal(before.Values(), after.Values()) {
		t.Errorf("%v became %v", before, after)
	}
}
