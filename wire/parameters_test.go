package wire

import (
	"context"
	"maps"
	"net/netip"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/sqlstate"
)

func TestParameters(t *testing.T) {
	for name, c := range map[string]struct {
		options  string
		settings []setting
		want     map[string]string
		code     sqlstate.Code
	}{
		"none": {},
		"names in any case": {settings: []setting{{"DateStyle", "ISO"}, {"TimeZone", "UTC"}},
			want: map[string]string{"datestyle": "ISO", "timezone": "UTC"}},
		"last wins": {settings: []setting{{"geqo", "on"}, {"GEQO", "off"}},
			want: map[string]string{"geqo": "off"}},
		"options come first": {options: "-c geqo=on", settings: []setting{{"geqo", "off"}},
			want: map[string]string{"geqo": "off"}},
		"forms of options": {options: " -c geqo=on\t-cjit=off --work-mem=8MB  --x.y=",
			want: map[string]string{"geqo": "on", "jit": "off", "work_mem": "8MB", "x.y": ""}},
		"backslashes": {options: `-c search_path=a\ b,\\c -c x.y=\-c\ role=z`,
			want: map[string]string{"search_path": `a b,\c`, "x.y": "-c role=z"}},
		"values are only values": {
			settings: []setting{{"search_path", "a -c role=admin --session_authorization=postgres\n-c x=y"}},
			want:     map[string]string{"search_path": "a -c role=admin --session_authorization=postgres\n-c x=y"}},
		"the client's own": {settings: []setting{{"myapp.tenant", "7"}, {"fugu.epsilon", "0.5"}},
			want: map[string]string{"myapp.tenant": "7", "fugu.epsilon": "0.5"}},
		"a value with =": {options: "-c x.y=a=b", want: map[string]string{"x.y": "a=b"}},
		"pinned": {options: "-c client_encoding=UTF8",
			settings: []setting{{"Standard_Conforming_Strings", "yes"}}},
		"of the administrator": {settings: []setting{{"session_authorization", "postgres"}},
			code: sqlstate.InsufficientPrivilege},
		"only at the start":      {options: "-c ignore_system_indexes=on", code: sqlstate.InsufficientPrivilege},
		"libraries":              {options: "--local-preload-libraries=x", code: sqlstate.InsufficientPrivilege},
		"only for superusers":    {settings: []setting{{"log_statement", "all"}}, code: sqlstate.UndefinedObject},
		"unknown":                {settings: []setting{{"no_such", "1"}}, code: sqlstate.UndefinedObject},
		"a name that is no name": {settings: []setting{{"a b.c", "1"}}, code: sqlstate.UndefinedObject},
		"another, pinned":        {options: "-c Client_Encoding=LATIN1", code: sqlstate.FeatureNotSupported},
		"another switch":         {options: "-P", code: sqlstate.SyntaxError},
		"a file":                 {options: "-r /tmp/x", code: sqlstate.SyntaxError},
		"a data directory":       {options: "-D /tmp", code: sqlstate.SyntaxError},
		"no assignment":          {options: "-c geqo", code: sqlstate.SyntaxError},
		"nothing behind -c":      {options: "-c", code: sqlstate.SyntaxError},
		"nothing behind --":      {options: "--", code: sqlstate.SyntaxError},
		"a word":                 {options: "-c geqo=off off", code: sqlstate.SyntaxError},
		"a value that is no text": {settings: []setting{{"application_name", "\xff"}},
			code: sqlstate.CharacterNotInRepertoire},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parameters{c.options, c.settings}.allowed()
			if c.code != "" {
				if !sqlstate.Is(err, c.code) || !sqlstate.As(err).Fatal {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if err != nil || !maps.Equal(got, c.want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// Every setting that PostgreSQL lets any user make is allowed, and no other of its own; exceptions are named.
func TestOwnSettingsArePostgreSQLs(t *testing.T) {
	rows, err := direct(t).Query(t.Context(), "SELECT lower(name), context FROM pg_settings WHERE name NOT LIKE '%.%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	checked := 0
	for rows.Next() {
		var name, context string
		if err := rows.Scan(&name, &context); err != nil {
			t.Fatal(err)
		}
		if name == "client_encoding" || name == "standard_conforming_strings" || name == "local_preload_libraries" {
			continue
		}
		checked++
		if ownSettings[name] != (context == "user") {
			t.Errorf("%s, of context %s: allowed is %v", name, context, ownSettings[name])
		}
	}
	if checked < 300 {
		t.Errorf("%d settings", checked)
	}
}

// Startup parameters mean to a session through the proxy what they mean to one of PostgreSQL's, and what is refused is
// refused by both under the same code.
func TestParametersAsPostgreSQL(t *testing.T) {
	p := serve(t, func(_ *Config, f *fake) { f.guest.User = "plain" })
	config, err := pgconn.ParseConfig(cluster(t).DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster(t).Configure(t.Context(), map[string]string{"pg_hba.conf": "host all all 127.0.0.1/32 trust\n"},
		nil); err != nil {
		t.Fatal(err)
	}
	if err := cluster(t).Exec(t.Context(), "postgres", "CREATE ROLE plain LOGIN"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cluster(t).Exec(context.Background(), "postgres", "DROP ROLE plain") }()
	for _, given := range [][]string{
		{"application_name", "a'b\"c"}, {"search_path", `"$user", pg_catalog`}, {"options", `-c search_path=a\ b,\\c`},
		{"options", "-c geqo=off", "geqo", "on"},
		{"options", "--work-mem=8MB -cDateStyle=German"}, {"DateStyle", "German", "TimeZone", "Asia/Tokyo"},
		{"myapp.tenant", "7"},
		{"work_mem", "lots"}, {"no_such", "1"}, {"options", "-c no_such=1"}, {"options", "-c geqo"},
		{"options", "nonsense"}, {"log_connections", "on"},
		{"options", "-c log_connections=on"}, {"role", "nobody"}, {"replication", "perhaps"},
	} {
		say := func(host string, port uint16, as string) string {
			c := config.Copy()
			c.Host, c.Port, c.User = host, port, as
			for i := 0; i+1 < len(given); i += 2 {
				c.RuntimeParams[given[i]] = given[i+1]
			}
			conn, err := pgconn.ConnectConfig(t.Context(), c)
			if err != nil {
				return code(err)
			}
			defer conn.Close(context.WithoutCancel(t.Context()))
			results, err := conn.Exec(t.Context(),
				`SELECT array[current_setting('application_name'), current_setting('search_path'),
				current_setting('geqo'), current_setting('work_mem'), current_setting('DateStyle'),
				current_setting('TimeZone'), current_setting('myapp.tenant', true), current_user]`).ReadAll()
			if err != nil {
				return code(err)
			}
			return string(results[0].Rows[0][0])
		}
		at, err := netip.ParseAddrPort(p.address)
		if err != nil {
			t.Fatal(err)
		}
		through, directly := say(at.Addr().String(), at.Port(), "plain"), say(config.Host, config.Port, "plain")
		if through != directly || through == "" {
			t.Errorf("%q: through the proxy %s, directly %s", given, through, directly)
		}
	}
}
