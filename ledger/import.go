package ledger

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

// Import makes a new ledger at url of what Export wrote, of whichever kind of store: link by link the same chain, which
// goes on from there. All of it is verified before anything is there to be opened. o.Key is the key of the ledger that was
// exported.
func Import(ctx context.Context, url string, o Options, r io.Reader) (head Link, err error) {
	called := false
	remote := !strings.HasPrefix(url, "sqlite:")
	o.ReadOnly, o.Exclusive = false, true
	o.fill = func(ctx context.Context, tx *sql.Tx, s seal) error {
		called = true
		head, err = s.load(ctx, tx, r, remote)
		return err
	}
	path := sqlitePath(url, o.Dir)
	made := false
	if !remote {
		_, err := os.Stat(path)
		made = errors.Is(err, os.ErrNotExist)
	}
	l, err := Open(ctx, url, o)
	if err == nil {
		err = l.Close()
	}
	switch {
	case err == nil && !called:
		err = errors.New("there is a ledger already: an import makes a new one")
	case err != nil && made:
		for _, end := range []string{"", "-wal", "-shm", ".lock"} {
			_ = os.Remove(path + end)
		}
	}
	if err != nil {
		return Link{}, fmt.Errorf("importing: %w", err)
	}
	return head, nil
}

// load fills the empty tables of a new ledger, and verifies what is in them then.
func (s seal) load(ctx context.Context, tx *sql.Tx, r io.Reader, remote bool) (head Link, err error) {
	if remote {
		if _, err := tx.ExecContext(ctx, withoutTimeout); err != nil {
			return Link{}, err
		}
	}
	insert := map[string]*sql.Stmt{}
	byName := map[string]table{}
	for _, t := range tables {
		var some bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+t.name+`)`).Scan(&some); err != nil {
			return Link{}, err
		}
		if some {
			return Link{}, errors.New("the ledger is not empty")
		}
		stmt, err := tx.PrepareContext(ctx, t.insert(remote))
		if err != nil {
			return Link{}, err
		}
		defer func() { _ = stmt.Close() }()
		insert[t.name], byName[t.name] = stmt, t
	}
	in := json.NewDecoder(r)
	in.UseNumber()
	var line exportLine
	if err := in.Decode(&line); err != nil {
		return Link{}, errors.New("it is not an export of a ledger")
	}
	if line.Format != exportFormat || !reflect.DeepEqual(line.Tables, exportHead().Tables) {
		return Link{}, errors.New("it is not an export of a ledger, or of another version of fugu: export it with this one")
	}
	var end exportEnd
	for n := int64(0); ; n++ {
		var line exportLine
		if err := in.Decode(&line); err != nil {
			return Link{}, fmt.Errorf("row %d of the export: %w", n+1, err)
		}
		if line.End != nil {
			if end = *line.End; end.Rows != n {
				return Link{}, fmt.Errorf("the export has %d rows, and should have %d", n, end.Rows)
			}
			break
		}
		t, known := byName[line.Table]
		if !known {
			return Link{}, fmt.Errorf("row %d of the export is of no table", n+1)
		}
		values, err := t.decode(line.Row)
		if err == nil {
			_, err = insert[t.name].ExecContext(ctx, values...)
		}
		if err != nil {
			return Link{}, fmt.Errorf("row %d of the export: %w", n+1, err)
		}
	}
	if in.More() {
		return Link{}, errors.New("there is something behind the end of the export")
	}
	if remote {
		const next = `SELECT setval(pg_get_serial_sequence('%[1]s', 'id'), max(id)) FROM %[1]s HAVING max(id) IS NOT NULL`
		for _, name := range []string{"answers", "charges", "epochs"} {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf(next, name)); err != nil {
				return Link{}, err
			}
		}
	}
	if head, err = s.audit(ctx, tx, nil); err != nil {
		return Link{}, err
	}
	found, err := endOf(head)
	if err == nil && (found.Number != end.Number || found.Hash != end.Hash) {
		err = errors.New("the audit chain does not end as the export says")
	}
	return head, err
}

func (t table) insert(remote bool) string {
	values := make([]string, len(t.columns))
	for i := range values {
		values[i] = fmt.Sprintf("$%d", i+1)
	}
	overriding := ""
	if remote {
		overriding = " OVERRIDING SYSTEM VALUE"
	}
	return `INSERT INTO ` + t.name + ` (` + t.list() + `)` + overriding + ` VALUES (` + strings.Join(values, ", ") + `)`
}

// decode returns a row of an export as the database takes it.
func (t table) decode(row []any) ([]any, error) {
	if len(row) != len(t.columns) {
		return nil, fmt.Errorf("it has %d values, and should have %d", len(row), len(t.columns))
	}
	out := make([]any, len(row))
	for i, c := range t.columns {
		number, isNumber := row[i].(json.Number)
		chars, isText := row[i].(string)
		var err error
		switch {
		case c.kind == integer && isNumber:
			out[i], err = number.Int64()
		case c.kind == float && isNumber:
			out[i], err = number.Float64()
		case c.kind == characters && isText:
			out[i] = chars
		case c.kind == octets && isText:
			out[i], err = base64.StdEncoding.DecodeString(chars)
		default:
			err = errors.New("it is of another type")
		}
		if err != nil {
			return nil, fmt.Errorf("column %s cannot be read", c.name)
		}
	}
	return out, nil
}
