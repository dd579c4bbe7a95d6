//go:build fuguhooks

package corpus

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// mode is a way to send a statement.
type mode string

const (
	simple           mode = "simple"
	extended         mode = "extended text"
	extendedInBinary mode = "extended binary"
)

// result is one result of a statement as the client has it. Values are in text form; nil is NULL.
type result struct {
	columns []column
	rows    [][]*string
	tag     string
}

type column struct {
	name   string
	oid    uint32
	size   int16
	typmod int32
}

// outcome is what a unit brought: the results up to the first error.
type outcome struct {
	results []result
	err     *pgconn.PgError
}

// side is a session on one of the two servers, kept over many units.
type side struct {
	dsn   string
	conn  *pgconn.PgConn
	types *pgtype.Map
}

func open(t testing.TB, dsn string) *side {
	t.Helper()
	s := &side{dsn: dsn, types: pgtype.NewMap()}
	if err := s.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.conn.Close(context.Background()) })
	return s
}

func (s *side) connect(ctx context.Context) (err error) {
	s.conn, err = pgconn.Connect(ctx, s.dsn)
	return err
}

// run runs a unit and leaves the session as it was. An error that is not the server's answer is a lost connection; the
// session is then a new one.
func (s *side) run(ctx context.Context, u unit, m mode) (out outcome, err error) {
	for _, step := range u.steps {
		var rs []result
		rs, err = s.step(ctx, step, u.params, m)
		if errors.As(err, &out.err) {
			err = nil
			break
		} else if err != nil {
			err = fmt.Errorf("%s: %w", step, err)
			break
		}
		out.results = append(out.results, rs...)
	}
	if err == nil && len(u.steps) > 1 {
		_, err = s.conn.Exec(ctx, "ROLLBACK").ReadAll()
		if err == nil {
			_, err = s.conn.Exec(ctx, "DISCARD ALL").ReadAll()
		}
	}
	if err != nil {
		_ = s.conn.Close(ctx)
		err = errors.Join(err, s.connect(ctx))
	}
	return out, err
}

func (s *side) step(ctx context.Context, sql string, params []string, m mode) ([]result, error) {
	if strings.HasPrefix(strings.ToUpper(sql), "COPY") {
		var b bytes.Buffer
		tag, err := s.conn.CopyTo(ctx, &b, sql)
		r := result{tag: tag.String()}
		for line := range strings.Lines(b.String()) {
			r.rows = append(r.rows, []*string{&line})
		}
		return []result{r}, err
	}
	if m == simple {
		var out []result
		all := s.conn.Exec(ctx, sql)
		for all.NextResult() {
			r, err := s.read(all.ResultReader())
			if err != nil {
				_ = all.Close()
				return out, err
			}
			out = append(out, r)
		}
		return out, all.Close()
	}
	var values [][]byte
	for _, p := range params {
		values = append(values, []byte(p))
	}
	format := []int16{pgtype.TextFormatCode}
	if m == extendedInBinary {
		format[0] = pgtype.BinaryFormatCode
	}
	r, err := s.read(s.conn.ExecParams(ctx, sql, values, nil, nil, format))
	return []result{r}, err
}

func (s *side) read(rr *pgconn.ResultReader) (out result, err error) {
	fields := rr.FieldDescriptions()
	for _, f := range fields {
		out.columns = append(out.columns, column{name: f.Name, oid: f.DataTypeOID, size: f.DataTypeSize,
			typmod: f.TypeModifier})
	}
	for rr.NextRow() {
		row := make([]*string, len(rr.Values()))
		for i, v := range rr.Values() {
			if v != nil {
				text := s.text(fields[i], v)
				row[i] = &text
			}
		}
		out.rows = append(out.rows, row)
	}
	tag, err := rr.Close()
	out.tag = tag.String()
	return out, err
}

// text turns a value into text, whatever its format; binary of unknown types into hexadecimal.
func (s *side) text(f pgconn.FieldDescription, v []byte) string {
	if f.Format == pgtype.TextFormatCode {
		return string(v)
	}
	t, ok := s.types.TypeForOID(f.DataTypeOID)
	if !ok {
		return hex.EncodeToString(v)
	}
	value, err := t.Codec.DecodeValue(s.types, f.DataTypeOID, pgtype.BinaryFormatCode, v)
	if err != nil {
		return "not binary: " + err.Error()
	}
	text, err := s.types.Encode(f.DataTypeOID, pgtype.TextFormatCode, value, nil)
	if err != nil {
		return fmt.Sprintf("%v", value)
	}
	return string(text)
}
