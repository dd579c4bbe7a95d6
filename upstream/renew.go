package upstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// imprint is what a session's state is known by.
type imprint struct {
	objects  bool   // it holds temporary tables, prepared statements of SQL's, cursors, locks, or listens to channels
	custom   string // a hash of the role, and of settings with a dot, which pg_settings does not show
	settings string // and of the others
}

// OpenRenewable is OpenGuest for a guest that is to be renewed: it takes note of how the session is at first.
func OpenRenewable(ctx context.Context, config *pgconn.Config, parameters map[string]string) (*Guest, error) {
	g, err := OpenGuest(ctx, config, parameters)
	if err != nil {
		return nil, err
	}
	g.reported = maps.Clone(g.hijacked.ParameterStatuses)
	if g.first, err = g.firstLook(ctx, config, parameters); err != nil {
		_ = g.Conn().Close()
		return nil, err
	}
	return g, nil
}

// Quiet reports whether the connection, which is idle, is open and has nothing to be read.
func (g *Guest) Quiet() bool { return quiet(g.hijacked.Conn) }

// Renew makes an idle guest of OpenRenewable's as it was when it was opened. If the session holds what its client would
// miss, or does not tell, nothing is changed, and lasting is true. After an error the guest is good for nothing.
func (g *Guest) Renew(ctx context.Context) (lasting bool, err error) {
	now, err := g.look(ctx)
	if err != nil {
		return true, g.unknown(err)
	}
	if now.settings != g.first.settings && !now.objects {
		// Perhaps the server's configuration has changed, and not the session's.
		own, err := g.row(ctx, ownSettings)
		if err != nil {
			return true, g.unknown(err)
		}
		if own[0] == "f" {
			g.first.settings = now.settings
		}
	}

	// Nothing of a client's may reach the next: what cannot be seen to be clean stays with its session.
	if now != g.first {
		return true, nil
	}
	if _, err := g.exec(ctx, "DISCARD ALL"); err != nil {
		return false, err
	}
	if !maps.Equal(g.hijacked.ParameterStatuses, g.reported) {
		return false, errors.New("a guest is not as it was, after DISCARD ALL")
	}
	return false, nil
}

// unknown is what is left of an error when a session does not tell its state, by a statement_timeout of its own
// perhaps: if it lives, it may have any.
func (g *Guest) unknown(err error) error {
	var refused *pgconn.PgError
	if own, broken := g.own(); broken == nil && errors.As(err, &refused) && !own.IsClosed() {
		return nil
	}
	return err
}

// Settings are those of Fugu's own, fugu.x, that a client can SET in its guest's session.
var Settings = []string{"epsilon", "delta", "mechanism", "notices", "confidence", "error", "max_error",
	"answer"}

// customSetting finds the names with a dot in options.
var customSetting = regexp.MustCompile(`-c ?([a-z_0-9]+\.[a-z_0-9.]+)=`)

// firstLook finds out which settings a session can change, and looks for the first time.
func (g *Guest) firstLook(ctx context.Context, config *pgconn.Config, parameters map[string]string) (imprint, error) {
	row, err := g.row(ctx, changeable)
	if err != nil {
		return imprint{}, err
	}
	custom := []string{"role"}
	for _, name := range Settings {
		custom = append(custom, "fugu."+name)
	}
	for _, m := range customSetting.FindAllStringSubmatch(config.RuntimeParams["options"], -1) {
		custom = append(custom, m[1])
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if strings.Contains(name, ".") && !strings.ContainsAny(name, `"'{}\`) {
			custom = append(custom, name)
		}
	}
	g.state = sessionState + fmt.Sprintf(settingsOf, strings.Join(custom, ",")) + ", " + fmt.Sprintf(settingsOf, row[0])
	return g.look(ctx)
}

func (g *Guest) look(ctx context.Context) (imprint, error) {
	row, err := g.row(ctx, g.state)
	if err != nil {
		return imprint{}, err
	}
	return imprint{row[0] != "f", row[1], row[2]}, nil
}

// row runs a statement that returns one row.
func (g *Guest) row(ctx context.Context, sql string) ([]string, error) {
	results, err := g.exec(ctx, sql)
	if err != nil {
		return nil, err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return nil, fmt.Errorf("asking a guest for its state: %d results", len(results))
	}
	out := make([]string, len(results[0].Rows[0]))
	for i, v := range results[0].Rows[0] {
		out[i] = string(v)
	}
	return out, nil
}

// exec runs a statement. Behind it nobody reads from the connection.
func (g *Guest) exec(ctx context.Context, sql string) ([]*pgconn.Result, error) {
	own, err := g.own()
	if err != nil {
		return nil, err
	}
	results, err := own.Exec(ctx, sql).ReadAll()
	if err == nil {
		// Where writing takes long, pgconn begins to read by itself, and goes on until something comes: it would be a
		// client's.
		err = own.SyncConn(ctx)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return results, nil
}

// changeable are the settings that any session may change. To ask pg_settings takes a millisecond or two.
const changeable = `SELECT pg_catalog.string_agg(name, ',' ORDER BY name) FROM pg_catalog.pg_show_all_settings()
	WHERE context OPERATOR(pg_catalog.=) 'user'`

// sessionState asks for an imprint. A client may have put functions and operators of its own before the catalog's, so
// each is named with its schema.
const sessionState = `SELECT pg_catalog.pg_my_temp_schema() OPERATOR(pg_catalog.<>) 0
	OR EXISTS (SELECT FROM pg_catalog.pg_listening_channels())
	OR EXISTS (SELECT FROM pg_catalog.pg_cursor())
	OR EXISTS (SELECT FROM pg_catalog.pg_prepared_statement() WHERE from_sql)
	OR EXISTS (SELECT FROM pg_catalog.pg_lock_status() WHERE locktype OPERATOR(pg_catalog.=) 'advisory'
	  AND pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()),
	`

// settingsOf is SQL for a hash of the settings whose names it is given.
const settingsOf = `(SELECT pg_catalog.md5(pg_catalog.string_agg(COALESCE(pg_catalog.current_setting(n, true), ''),
  ',')) FROM pg_catalog.unnest('{%s}'::pg_catalog.text[]) AS n)`

// ownSettings asks whether the session has changed a setting that pg_settings shows.
const ownSettings = `SELECT EXISTS (SELECT FROM pg_catalog.pg_show_all_settings()
  WHERE source OPERATOR(pg_catalog.=) 'session')`
