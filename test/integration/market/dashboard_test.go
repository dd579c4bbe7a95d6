package market

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"fugu/preview"
	"fugu/test/patient"
)

// The example's dashboard is previewed: what is refused with noise is its one maximum, what names no protected table is
// exact, and all else has a price and an error in both ways. A twin is advised, as it answers all.
func TestDashboard(t *testing.T) {
	patient.Test(t)
	m := load(t)
	m.thin(t)
	config := m.configure(t, t.TempDir(), noise())
	out, err := exec.CommandContext(t.Context(), m.binary, "preview", "-c", config, "-json", "-workload",
		filepath.Join(example, "dashboard.sql")).Output()
	if err != nil {
		t.Fatalf("fugu preview: %v", err)
	}
	var w preview.Workload
	if err := json.Unmarshal(out, &w); err != nil || len(w.Statements) != 12 || len(w.Totals) != 1 {
		t.Fatalf("%v: %d statements of %d datasets, want 12 of 1", err, len(w.Statements), len(w.Totals))
	}
	for _, s := range w.Statements {
		switch {
		case s.Title == "The dearest payment":
			if s.Noise != nil || s.Refused == nil || s.Refused.Line != s.Line || s.Refused.Column != 8 {
				t.Errorf("%s: %+v", s.Title, s)
			}
		case s.Title == "Suppliers":
			if s.Dataset != "" || s.Refused != nil {
				t.Errorf("%s: %+v", s.Title, s)
			}
		case s.Noise == nil || s.Twin == nil || s.Price <= 0 || *s.Noise.Relative > 1 || *s.Twin.Relative > 0.2:
			t.Errorf("%s: %+v, with noise %+v, on a twin %+v", s.Title, s, s.Noise, s.Twin)
		}
	}
	if x := w.Totals[0]; x.Answered != 10 || x.Refused != 1 || x.Runs < 1 || x.Advice != preview.AdviseTwin {
		t.Errorf("in all it is %+v", x)
	}
}
