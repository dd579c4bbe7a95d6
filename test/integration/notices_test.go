package integration

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// told is which notices a new session gets that runs the texts, one after the other, starting with the setting. An
// error of a text that has one in its name is asked for.
func told(t *testing.T, dsn, level string, mode pgx.QueryExecMode, texts ...string) []string {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if level != "" {
		cfg.RuntimeParams["client_min_messages"] = level
	}
	notices := noticesOf(cfg)
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	for _, text := range texts {
		how := mode
		if strings.Contains(text, ";") {
			how = pgx.QueryExecModeSimpleProtocol
		}
		_, err := c.Exec(t.Context(), text, how)
		if failed := err != nil; failed != strings.Contains(text, "/*fails*/") {
			t.Errorf("%s: %v", text, err)
		}
	}
	return *notices
}

// What a table is, is told to who wants to hear it: by client_min_messages as PostgreSQL's own notices are, and by
// fugu.notices; whichever way it is set, and however the statement is sent.
func TestNoticesAreForWhoHears(t *testing.T) {
	patient.Test(t)
	_, twin, _ := serveCensus(t)
	noise := serve(t, options{}).dsn("alice")
	const ask = "SELECT count(*) FROM adult WHERE sex = 'Male'"
	for name, c := range map[string]struct {
		level string
		texts []string
		heard int
	}{
		"by default":           {"", []string{ask, ask}, 1},
		"all but debugging":    {"log", []string{ask, ask}, 1},
		"started at warning":   {"warning", []string{ask, ask}, 0},
		"set to warning":       {"", []string{"SET client_min_messages = warning", ask, ask}, 0},
		"set to error":         {"", []string{"SET client_min_messages TO error", ask}, 0},
		"set back":             {"error", []string{"SET client_min_messages = notice", ask, ask}, 1},
		"within a transaction": {"", []string{"BEGIN", "SET LOCAL client_min_messages = error", ask, "COMMIT", ask}, 0},
		"in one text":          {"", []string{"SET client_min_messages = warning; " + ask, ask}, 0},
		"off":                  {"", []string{"SET fugu.notices = off", ask, ask}, 0},
		"off in one text":      {"", []string{"SET fugu.notices = off; " + ask, ask}, 0},
		"once":                 {"", []string{"SET fugu.notices = once", ask, ask}, 1},
		"off and reset":        {"", []string{"SET fugu.notices = off", "RESET fugu.notices", ask, ask}, 1},
		"after an error":       {"", []string{"BEGIN", "SELECT 1/0 /*fails*/", ask + " /*fails*/", "ROLLBACK", ask}, 1},
		"in a transaction":     {"", []string{"BEGIN", ask, ask, "COMMIT"}, 1},
	} {
		for way, mode := range map[string]pgx.QueryExecMode{"simple": pgx.QueryExecModeSimpleProtocol,
			"extended": pgx.QueryExecModeExec} {
			for table, dsn := range map[string]string{"twin": twin, "noise": noise} {
				t.Run(name+", "+way+", "+table, func(t *testing.T) {
					if got := told(t, dsn, c.level, mode, c.texts...); len(got) != c.heard {
						t.Errorf("%d notices, want %d: %q", len(got), c.heard, got)
					}
				})
			}
		}
	}

	// What is asked beside makes no transaction of the statement's.
	told(t, twin, "", pgx.QueryExecModeSimpleProtocol, "LOCK TABLE adult IN ACCESS SHARE MODE /*fails*/")
	// And what is asked for with each answer comes with the second, too.
	if got := told(t, noise, "", pgx.QueryExecModeExec, "SET fugu.notices = on", ask, ask); len(got) != 3 {
		t.Errorf("with each answer: %q", got)
	}
	if got := told(t, noise, "warning", pgx.QueryExecModeExec, "SET fugu.notices = on", ask); len(got) != 0 {
		t.Errorf("with each answer, to who hears none: %q", got)
	}
}
