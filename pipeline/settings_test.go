package pipeline

import (
	"context"
	"errors"
	"testing"

	"fugu/mechanism"
	"fugu/parser"
	"fugu/privacy"
	"fugu/sqlstate"
	"fugu/test/patient"
)

func TestSet(t *testing.T) {
	patient.Test(t)
	standing := settings{confidence: defaultConfidence}
	with := func(change func(*settings)) settings {
		s := standing
		change(&s)
		return s
	}
	for _, c := range []struct {
		name, value string
		want        settings
		code        sqlstate.Code // empty: no error
	}{
		{"epsilon", "0.5", with(func(s *settings) { s.epsilon = 0.5 }), ""},
		{"epsilon", "1e-3", with(func(s *settings) { s.epsilon = 1e-3 }), ""},
		{"epsilon", "", standing, ""}, // the policy's
		{"epsilon", "0", standing, sqlstate.InvalidParameterValue},
		{"epsilon", "-1", standing, sqlstate.InvalidParameterValue},
		{"epsilon", "NaN", standing, sqlstate.InvalidParameterValue},
		{"epsilon", "inf", standing, sqlstate.InvalidParameterValue},
		{"epsilon", "1e999", standing, sqlstate.InvalidParameterValue},
		{"epsilon", "much", standing, sqlstate.InvalidParameterValue},
		{"epsilon", " 1", standing, sqlstate.InvalidParameterValue},
		{"delta", "0", with(func(s *settings) { s.deltaSet = true }), ""},
		{"delta", "1e-6", with(func(s *settings) { s.delta, s.deltaSet = 1e-6, true }), ""},
		{"delta", "1", standing, sqlstate.InvalidParameterValue},
		{"delta", "-1e-9", standing, sqlstate.InvalidParameterValue},
		{"delta", "nan", standing, sqlstate.InvalidParameterValue},
		{"mechanism", "Directional", with(func(s *settings) { s.mechanism = mechanism.Directional }), ""},
		{"mechanism", "auto", with(func(s *settings) { s.mechanism = mechanism.Auto }), ""},
		{"mechanism", "none", standing, sqlstate.InvalidParameterValue},
		{"notices", "ON", with(func(s *settings) { s.notices = true }), ""},
		{"notices", "off", standing, ""},
		{"notices", "maybe", standing, sqlstate.InvalidParameterValue},
		{"confidence", "0.5", with(func(s *settings) { s.confidence = 0.5 }), ""},
		{"confidence", "0", standing, sqlstate.InvalidParameterValue},
		{"confidence", "1", standing, sqlstate.InvalidParameterValue},
		{"confidence", "NaN", standing, sqlstate.InvalidParameterValue},
		{"budget", "1", standing, sqlstate.UndefinedObject},
		{"Epsilon", "1", standing, sqlstate.UndefinedObject}, // the parser has folded names already
		{"", "", standing, sqlstate.UndefinedObject},
	} {
		got := standing
		err := got.set(c.name, c.value)
		if c.code == "" && (err != nil || got != c.want) {
			t.Errorf("%s = %q: %+v, %v, want %+v", c.name, c.value, got, err, c.want)
		}
		if c.code != "" && (!sqlstate.Is(err, c.code) || sqlstate.As(err).Hint == "") {
			t.Errorf("%s = %q: %v, want %s with a hint", c.name, c.value, err, c.code)
		}
	}
}

func TestCheckSetting(t *testing.T) {
	patient.Test(t)
	for _, c := range []struct {
		set  parser.Setting
		code sqlstate.Code
	}{
		{parser.Setting{Name: "epsilon", Value: "0.5", Position: 7}, ""},
		{parser.Setting{Name: "epsilon", Default: true, Position: 7}, ""},
		{parser.Setting{Name: "epsilon", Value: "nan", Position: 7}, sqlstate.InvalidParameterValue},
		{parser.Setting{Name: "epsilon", Position: 7}, sqlstate.InvalidParameterValue}, // an expression, or nothing
		{parser.Setting{Name: "nothing", Value: "1", Position: 7}, sqlstate.UndefinedObject},
		{parser.Setting{Name: "nothing", Default: true, Position: 7}, sqlstate.UndefinedObject},
	} {
		err := checkSetting(&c.set)
		if c.code == "" && err != nil || c.code != "" && (!sqlstate.Is(err, c.code) || sqlstate.As(err).Position != 7) {
			t.Errorf("%+v: %v, want %q at 7", c.set, err, c.code)
		}
	}
}

func TestReadSettings(t *testing.T) {
	patient.Test(t)
	answer := func(rows ...[]string) func(context.Context, string) ([][]string, error) {
		return func(context.Context, string) ([][]string, error) { return rows, nil }
	}
	got, err := readSettings(t.Context(), answer([]string{"0.25", "0", "directional", "on", "0.9", "110%", "50%",
		"estimate"}))
	if want := (settings{epsilon: 0.25, deltaSet: true, mechanism: mechanism.Directional, notices: true,
		confidence: 0.9, error: privacy.Tolerance{Relative: 1.1}, errorSet: true, maxError: .5,
		estimates: true}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = readSettings(t.Context(), answer([]string{"", "", "", "", "", "", "", ""}))
	if want := (settings{confidence: defaultConfidence}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	// set_config and the startup message reach the guest unchecked: what is wrong is refused here at the latest.
	if _, err := readSettings(t.Context(), answer([]string{"NaN", "", "", "", "", "", "", ""})); !sqlstate.Is(err,
		sqlstate.InvalidParameterValue) {
		t.Error(err)
	}
	if _, err := readSettings(t.Context(), answer()); err == nil {
		t.Error("no row was taken for settings")
	}
	if _, err := readSettings(t.Context(), answer([]string{"1"})); err == nil {
		t.Error("one column was taken for all settings")
	}
	broken := errors.New("broken")
	if _, err := readSettings(t.Context(), func(context.Context, string) ([][]string, error) {
		return nil,
			broken
	}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// A client can lower what a statement may cost, and never raise it.
func TestSettingsAgainstPolicy(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	for _, c := range []struct {
		set    settings
		budget privacy.Budget
		code   sqlstate.Code
	}{
		{settings{}, privacy.Budget{Epsilon: 1, Delta: 0.001}, ""},
		{settings{epsilon: 1, delta: 0.001, deltaSet: true}, privacy.Budget{Epsilon: 1, Delta: 0.001}, ""},
		{settings{epsilon: 0.5}, privacy.Budget{Epsilon: 0.5, Delta: 0.001}, ""},
		{settings{deltaSet: true}, privacy.Budget{Epsilon: 1}, ""},
		{settings{epsilon: 1.0001}, privacy.Budget{}, sqlstate.NotAllowed},
		{settings{delta: 0.0011, deltaSet: true}, privacy.Budget{}, sqlstate.NotAllowed},
	} {
		q, err := h.question(t, "SELECT count(*) FROM adult", nil, c.set)
		if c.code == "" && (err != nil || q.Request.Budget != c.budget) || c.code != "" && !sqlstate.Is(err, c.code) {
			t.Errorf("%+v: %v, want %v or %q", c.set, err, c.budget, c.code)
		}
	}
}
