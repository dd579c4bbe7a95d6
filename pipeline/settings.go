package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fugu/explain"
	"fugu/meaning"
	"fugu/mechanism"
	"fugu/parser"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sqlstate"
	"fugu/upstream"
)

// settings are a session's SET fugu.x, which live on the guest connection as custom parameters of PostgreSQL's: so they
// follow transactions, SET LOCAL, RESET and DISCARD by themselves. An empty one means the policy's value.
type settings struct {
	epsilon    privacy.Epsilon // 0: the policy's
	delta      privacy.Delta
	deltaSet   bool
	mechanism  mechanism.Kind // empty: the policy's
	notices    bool           // what was told is said beside each answer
	silent     bool           // and not even at the first statement on a table what it is
	confidence float64
	error      privacy.Tolerance
	errorSet   bool
	maxError   privacy.Worth // 0: the policy's
	estimates  bool          // stand in results in place of what was released
}

// What fugu.answer may be.
const (
	releaseAnswer  = "release"
	estimateAnswer = "estimate"
)

// settingNames are all the settings, in the order that readSettings asks for them.
var settingNames = upstream.Settings

const defaultConfidence = explain.Confidence

// defaults are the settings as the policy has them; the policy's own are empty where there are several policies.
func defaults(policies []*policy.Policy) map[string]string {
	values := map[string]string{"epsilon": "", "delta": "", "mechanism": "", "error": "", "max_error": "",
		"notices": "once", "answer": releaseAnswer, "confidence": strconv.FormatFloat(defaultConfidence, 'g', -1, 64)}
	if p := policies; len(p) == 1 {
		values["epsilon"] = strconv.FormatFloat(float64(p[0].Privacy.Epsilon), 'g', -1, 64)
		values["delta"] = strconv.FormatFloat(float64(p[0].Privacy.Delta), 'g', -1, 64)
		values["mechanism"] = p[0].Privacy.Mechanism
		values["error"] = p[0].Privacy.Error.String()
		values["max_error"] = p[0].Privacy.MaxError.String()
	}
	return values
}

// showSQL has SHOW tell the default of a setting that the session has not got; false: there is no such setting. Guests
// could be opened with the defaults, but PostgreSQL up to version 15 sorts all of its settings anew for each custom
// one: a twentieth of what a connection costs.
func showSQL(name string, policies []*policy.Policy) (sql string, ok bool) {
	value, ok := defaults(policies)[name]
	call := "pg_catalog.current_setting('fugu." + name + "', true)"
	return fmt.Sprintf(`SELECT CASE WHEN %s OPERATOR(pg_catalog.<>) '' THEN %[1]s ELSE '%s' END AS "fugu.%s"`,
		call, value, name), ok
}

// set takes over one setting, or says what is wrong with it.
func (s *settings) set(name, value string) error {
	bad := func(hint string) error {
		return sqlstate.New(sqlstate.InvalidParameterValue, "invalid value for parameter \"fugu.%s\": %q", name,
			value).WithHint("%s", hint)
	}

	// An empty one means the policy's: so RESET and a connection that never set it are alike.
	if value == "" && slices.Contains(settingNames, name) {
		return nil
	}

	var err error
	switch name {
	case "epsilon":
		if s.epsilon, err = privacy.ParseEpsilon(value); err != nil {
			return bad("Give a finite number above 0, at most the policy's.")
		}
	case "delta":
		if s.delta, err = privacy.ParseDelta(value); err != nil {
			return bad("Give a number from 0 to below 1, at most the policy's.")
		}
		s.deltaSet = true
	case "mechanism":
		if s.mechanism, err = mechanism.ParseKind(strings.ToLower(value)); err != nil {
			return bad("Give one of " + mechanism.Names() + ".")
		}
	case "notices":
		if !s.setNotices(value) {
			return bad("Give on, for what was told beside each answer; once, for what a table is, at the first " +
				"statement on it; or off.")
		}
	case "confidence":
		c, err := strconv.ParseFloat(value, 64)
		if err != nil || !(c > 0 && c < 1) {
			return bad("Give a number between 0 and 1, such as 0.95.")
		}
		s.confidence = c
	case "error":
		if s.error, err = privacy.ParseTolerance(value); err != nil {
			return bad("Give a number, or a percentage of a fresh answer's error, such as 110%; 0 has every answer " +
				"drawn afresh.")
		}
		s.errorSet = true
	case "max_error":
		if s.maxError, err = privacy.ParseWorth(value); err != nil {
			return bad("Give a percentage of the values expected, such as 50%.")
		}
	case "answer":
		if value = strings.ToLower(value); value != releaseAnswer && value != estimateAnswer {
			return bad("Give release, or estimate for what an analyst may believe given all that was released.")
		}
		s.estimates = value == estimateAnswer
	default:
		return sqlstate.New(sqlstate.UndefinedObject, "unrecognized configuration parameter \"fugu.%s\"", name).
			WithHint("Fugu's settings are %s.", "fugu."+strings.Join(settingNames, ", fugu."))
	}
	return nil
}

// setNotices takes over which notices there are: all in PostgreSQL's words for yes, none in those for no, and in
// between those that introduce a table. ok is false for another word.
func (s *settings) setNotices(value string) (ok bool) {
	s.notices, s.silent = false, false
	switch strings.ToLower(value) {
	case "on", "true", "yes", "1":
		s.notices = true
	case "once":
	case "off", "false", "no", "0":
		s.silent = true
	default:
		return false
	}
	return true
}

// checkSetting refuses a SET that could not be used; the guest carries it out.
func checkSetting(set *parser.Setting) error {
	value := set.Value
	if set.Default {
		value = ""
	}
	err := new(settings).set(set.Name, value)
	if err == nil && !set.Default && value == "" {
		err = sqlstate.New(sqlstate.InvalidParameterValue, "invalid value for parameter \"fugu.%s\"", set.Name).
			WithHint("Give a constant, or use RESET fugu.%s.", set.Name)
	}
	if err != nil {
		return sqlstate.As(err).At(max(1, set.Position))
	}
	return nil
}

// readSettings asks the guest for the session's settings as they stand in its current transaction.
func readSettings(ctx context.Context, ask meaning.Ask) (settings, error) {
	s := settings{confidence: defaultConfidence}
	calls := make([]string, len(settingNames))
	for i, n := range settingNames {
		calls[i] = "coalesce(pg_catalog.current_setting('fugu." + n + "', true), '')"
	}
	rows, err := ask(ctx, "SELECT "+strings.Join(calls, ", "))
	if err != nil {
		return s, err
	}
	if len(rows) != 1 || len(rows[0]) != len(settingNames) {
		return s, fmt.Errorf("reading the session's settings: %d rows", len(rows))
	}
	for i, n := range settingNames {
		if err := s.set(n, rows[0][i]); err != nil {
			return s, err
		}
	}
	return s, nil
}
