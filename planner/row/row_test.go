package row

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/parser"
	"fugu/sqlstate"
	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// extremes is a table with ordinary rows, and rows that hold what operations fail on.
const extremes = `
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE x (id int PRIMARY KEY, ordinary bool, i2 int2, i4 int4, i8 int8, j4 int4, n numeric, m numeric(10,2),
    f8 float8, f4 float4, s text, v varchar(40), c char(6), nm name,
  b bool, d date, ts timestamp, tz timestamptz, tm time, iv interval, u uuid, e mood, json jsonb, ip inet);
INSERT INTO x VALUES
 (1, true, 1, 2, 3, 4, 5.5, 6.25, 7.5, 8.5, 'abc', 'Def', 'gh', 'ij', true, '2020-02-29', '2020-02-29 12:34:56.789',
    '2021-03-01 01:02:03+00', '10:11:12', '1 day', '00000000-0000-0000-0000-000000000001', 'sad', '{}', '1.1.1.1'),
 (2, true, -1, -2, -3, 0, -5.125, -6.5, -7.25, -8.75, '12', '-34', ' 5', '6', false, '1999-12-31', '1970-01-01',
    '1970-01-01', '00:00', '-1 mon', '00000000-0000-0000-0000-000000000002', 'ok', 'null', '::1'),
 (3, true, 0, 0, 0, 0, 0, 0, 0, 0, '', '', '', '', true, '2000-01-01', '2000-01-01', '2000-01-01', '23:59:59', '0',
    NULL, 'happy', '1', '1.1.1.0/24'),
 (4, true, 32767, 2147483647, 9223372036854775807, 2147483647, 123456789.123, 99999999.99, 1e10, 1e5, 'true', 'f',
    'yes', 'no', NULL, '2024-06-15', '2024-06-15 23:59:59', '2024-06-15', '12:00', '1 year', NULL, NULL, NULL, NULL),
 (5, true, -32768, -2147483648, -9223372036854775808, -1, -0.001, -99999999.99, -1e-5, -1e-3, '2020-01-31',
    '2020-02-30', '1e3', '.5', NULL, '1900-01-01', '1900-01-01', '1900-01-01', NULL, NULL, NULL, NULL, NULL, NULL),
 (6, true, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL),
 (7, true, 7, 100, 1000, 3, 2.5, 0.01, 0.5, 0.25, 'Größe Ünïcode 日本', 'a%b_c\', 'A B', 'x', false, '2023-01-01',
    '2023-01-01 00:00:01', '2023-12-31 23:00:00+00', '01:02:03.5', '02:03:04', NULL, 'ok', NULL, NULL),
 (8, true, 2, 46341, 3037000500, 46341, 1e15, 1.00, 1e-10, 3, ' 42 ', '+7', '1', 'aa', true, '2020-12-31', '2020-12-31',
    '2020-12-31', NULL, NULL, NULL, NULL, NULL, NULL),
 (101, false, 1, 1, 1, 1, 'NaN', 'NaN', 'NaN', 'NaN', 'NaN', 'Infinity', 'inf', '', true, 'infinity', 'infinity',
    'infinity', '24:00:00', '178000000 years', NULL, NULL, NULL, NULL),
 (102, false, 1, 1, 1, 1, 'Infinity', 1, 'Infinity', 'Infinity', '1e400', '99999999999999999999', '1e-5', '', true,
    '-infinity', '-infinity', '-infinity', '00:00', '-178000000 years', NULL, NULL, NULL, NULL),
 (103, false, 1, 1, 1, 1, '-Infinity', 1, '-Infinity', '-Infinity', '0x10', '-', '.', '', true, '4713-01-01 BC',
    '4713-01-01 BC', '4713-01-01 BC', '00:00', '10 years', NULL, NULL, NULL, NULL),
 (104, false, 1, 1, 1, -1, 1e130000, 1, 1.7976931348623157e308, 3.4028235e38, '2023-02-29', '0000-01-01', '24:00', '',
    true, '5874897-12-31', '294276-12-31', '294276-12-31', '00:00', '1 us', NULL, NULL, NULL, NULL),
 (105, false, 1, 1, 1, -2147483648, -1e130000, 1, -1.7976931348623157e308, -3.4028235e38, '2024-02-29 25:00', '1 2',
    '1-', '', true, '0001-01-01', '0001-01-01', '0001-01-01', '00:00', '0', NULL, NULL, NULL, NULL),
 (106, false, 1, 1, 1, 5, 1e-16000, 1, 5e-324, 1.4e-45, repeat('x', 3000), '%', '\', '\\', true, '9999-12-31',
    '9999-12-31 23:59:59.999999', '9999-12-31', '00:00', '0', NULL, NULL, NULL, NULL),
 (107, false, 1, 1, 1, 5, -1e-16000, 1, -5e-324, -1.4e-45, repeat('9', 3000), '00000000-0000-0000-0000-00000000000g',
    'tru', 'oNx', true, '10000-01-01', '10000-01-01', '10000-01-01', '00:00', '0', NULL, NULL, NULL, NULL),
 (108, false, 1, 1, 1, 5, 1e-300, 1, 1e-300, 1e-38, E'\t 7 \n', E' t\n', 'o', 'o', true, '0044-03-15 BC',
    '0044-03-15 BC', '0044-03-15 BC', '00:00', '0', NULL, NULL, NULL, NULL),
 (109, false, 1, 1, 1, 5, 1e308, 1, -0.0, -0.0, E'\u2003 7', '1_000', '1e99', '1e999', true, '0001-01-01 BC',
    '0001-12-31 BC', '0001-12-31 BC', '00:00', '0', NULL, NULL, NULL, NULL);
CREATE TABLE side (k int, w float8); INSERT INTO side VALUES (1, 0), (2, 1), (NULL, NULL), (7, 'NaN');
CREATE TABLE y (LIKE x);
CREATE FUNCTION attempt(expression text, row_id int, tab text DEFAULT 'x') RETURNS text LANGUAGE plpgsql AS $$
DECLARE r text;
BEGIN
  EXECUTE 'SELECT (' || expression || ')::text FROM public.' || tab || ' AS t WHERE t.id = $1' INTO r USING row_id;
  RETURN coalesce('=' || r, 'NULL');
EXCEPTION WHEN OTHERS THEN RETURN 'ERROR ' || SQLSTATE;
END $$;`

var columns = strings.Fields("i2 i4 i8 j4 n m f8 f4 s v c nm b d ts tz tm iv u e json ip")

type testCatalog struct{}

func (testCatalog) Table(_, name string) (parser.Table, bool) {
	return parser.Table{Schema: "public", Name: "x", Columns: columns}, name == "x"
}

func (testCatalog) Ordinary(_, name string) (parser.Table, error) {
	return parser.Table{Schema: "public", Name: name, Columns: []string{"k", "w"}, Ordinary: true}, nil
}

// server is a Database over one connection, set up as the reader's are.
type server struct {
	*pgconn.PgConn
	described, evaluated int
}

func connect(t testing.TB) *server {
	t.Helper()
	c := pgcluster.Shared(t)
	db := strings.ToLower(strings.NewReplacer("/", "_", "#", "_", "-", "_").Replace(t.Name()))
	if err := c.Exec(t.Context(), "postgres", "CREATE DATABASE "+db+" LOCALE 'C.UTF-8' ENCODING UTF8 TEMPLATE "+
		"template0"); err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), db, extremes); err != nil {
		t.Fatal(err)
	}
	cfg, err := pgconn.ParseConfig(c.DSN("postgres", db))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"search_path": "pg_catalog", "TimeZone": "UTC", "DateStyle": "ISO, YMD",
		"IntervalStyle": "postgres", "extra_float_digits": "1"} {
		cfg.RuntimeParams[k] = v
	}

	conn, err := pgconn.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return &server{PgConn: conn}
}

func known(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) && (pe.Code[:2] == "42" || pe.Code[:2] == "22") {
		return sqlstate.New(sqlstate.Code(pe.Code), "%s", pe.Message)
	}
	return err
}

func (s *server) Describe(ctx context.Context, sql string, types []uint32) (Description, error) {
	s.described++
	d, err := s.Prepare(ctx, "", sql, types)
	if err != nil {
		return Description{}, known(fmt.Errorf("%s: %w", sql, err))
	}
	out := Description{ParamTypes: d.ParamOIDs}
	for _, f := range d.Fields {
		out.ResultTypes, out.ResultMods = append(out.ResultTypes, f.DataTypeOID), append(out.ResultMods, f.TypeModifier)
	}
	return out, nil
}

func (s *server) Evaluate(ctx context.Context, sql string, params [][]byte, types []uint32) ([][]Value, error) {
	s.evaluated++
	r := s.ExecParams(ctx, sql, params, types, nil, nil).Read()
	if r.Err != nil {
		return nil, known(fmt.Errorf("%s: %w", sql, r.Err))
	}
	out := make([][]Value, len(r.Rows))
	for i, row := range r.Rows {
		for _, v := range row {
			out[i] = append(out[i], Value{string(v), v == nil})
		}
	}
	return out, nil
}

// parse reads one row expression, as the argument of count.
func parse(expression string) (parser.Expr, error) {
	statements, err := parser.Parse("SELECT count("+expression+") FROM x", testCatalog{})
	if err != nil {
		return nil, err
	}
	return statements[0].Cuts[0].Aggregates[0].Args[0], nil
}

// bind resolves and binds one expression, and prints its total form; empty where nothing is left of it.
func (s *server) bind(ctx context.Context, root Root, values ...Value) (string, error) {
	typing, err := Resolve(ctx, s, "public.x AS t", []Root{root}, func(int) uint32 { return 0 })
	if err != nil {
		return "", err
	}
	out, _, err := typing.Bind(ctx, s, values)
	if err != nil {
		return "", err
	}
	if out[0] == nil {
		return "", nil
	}
	return parser.SQL(out[0], "t", nil), nil
}

// condition binds a WHERE.
func (s *server) condition(ctx context.Context, expression string, values ...Value) (string, error) {
	e, err := parse(expression)
	if err != nil {
		return "", err
	}
	return s.bind(ctx, Root{Condition: true, Expr: e}, values...)
}
