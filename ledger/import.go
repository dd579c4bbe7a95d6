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

	"fugu/ledger/audit"
)

// Import makes a new ledger at url of what Export wrote, of whichever kind of store: link by link the same chain, which
// goes on from there. All of it is verified before anything is there to be opened. o.Key is the key of the ledger that
// was exported.
func Import(ctx context.Context, url string, o Options, r io.Reader) (head audit.Link, err error) {
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

	// A file that was made for an import that failed is no ledger, and is taken away; where it did not come to the
	// import, what is there is another's.
	l, err := Open(ctx, url, o)
	if err == nil {
		err = l.Close()
	}
	switch {
	case err == nil && !called:
		err = errors.New("there is a ledger already: an import makes a new one")
	case err != nil && made && called:
		for _, file := range []string{path, path + logEnd, path + "-shm", lockFile(path)} {
			_ = os.Remove(file)
		}
	}
	if err != nil {
		return audit.Link{}, fmt.Errorf("importing: %w", err)
	}
	return head, nil
}

// load fills the empty tables of a new ledger, and verifies what is in them then.
func (s seal) load(ctx context.Context, tx *sql.Tx, r io.Reader, remote bool) (head audit.Link, err error) {
	if remote {
		if _, err := tx.ExecContext(ctx, withoutTimeout); err != nil {
			return audit.Link{}, err
		}
	}
	in := importing{lines: json.NewDecoder(r), insert: map[string]*sql.Stmt{}, tables: map[string]table{}}
	in.lines.UseNumber()
	defer in.close()
	for _, t := range tables {
		if err := in.prepare(ctx, tx, t, remote); err != nil {
			return audit.Link{}, err
		}
	}
	end, err := in.read(ctx)
	if err != nil {
		return audit.Link{}, err
	}

	// What is booked next has numbers behind those of the rows that were taken over.
	if remote {
		const next = `SELECT setval(pg_get_serial_sequence('%[1]s', 'id'), max(id))
		  FROM %[1]s HAVING max(id) IS NOT NULL`
		for _, name := range []string{"answers", "charges", "epochs"} {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf(next, name)); err != nil {
				return audit.Link{}, err
			}
		}
	}

	if head, err = s.audit(ctx, tx, nil); err != nil {
		return audit.Link{}, err
	}
	found, err := endOf(head)
	if err == nil && (found.Number != end.Number || found.Hash != end.Hash) {
		err = errors.New("the audit chain does not end as the export says")
	}
	return head, err
}

// importing is an export that is read into empty tables.
type importing struct {
	lines  *json.Decoder
	tables map[string]table
	insert map[string]*sql.Stmt // by table
}

// prepare makes ready for rows of a table, which has to be empty.
func (in *importing) prepare(ctx context.Context, tx *sql.Tx, t table, remote bool) error {
	var some bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+t.name+`)`).Scan(&some); err != nil {
		return err
	}
	if some {
		return errors.New("the ledger is not empty")
	}
	stmt, err := tx.PrepareContext(ctx, t.insert(remote))
	if err != nil {
		return err
	}
	in.insert[t.name], in.tables[t.name] = stmt, t
	return nil
}

func (in *importing) close() {
	for _, stmt := range in.insert {
		_ = stmt.Close()
	}
}

// read inserts all rows, and returns what the export says of its end, behind which there is nothing.
func (in *importing) read(ctx context.Context) (exportEnd, error) {
	var line exportLine
	if err := in.lines.Decode(&line); err != nil {
		return exportEnd{}, errors.New("it is not an export of a ledger")
	}
	if line.Format != exportFormat || !reflect.DeepEqual(line.Tables, exportHead().Tables) {
		return exportEnd{}, errors.New("it is not an export of a ledger, or of another version of fugu: " +
			"export it with this one")
	}

	// Rows come table by table; what ends them says how many there were, so that a part of an export is none.
	for n := int64(0); ; n++ {
		var line exportLine
		if err := in.lines.Decode(&line); err != nil {
			return exportEnd{}, fmt.Errorf("row %d of the export: %w", n+1, err)
		}
		if line.End == nil {
			t, known := in.tables[line.Table]
			if !known {
				return exportEnd{}, fmt.Errorf("row %d of the export belongs to no table", n+1)
			}
			if err := in.row(ctx, t, line.Row); err != nil {
				return exportEnd{}, fmt.Errorf("row %d of the export: %w", n+1, err)
			}
			continue
		}

		if line.End.Rows != n {
			return exportEnd{}, fmt.Errorf("the export has %d rows, and should have %d", n, line.End.Rows)
		}
		if in.lines.More() {
			return exportEnd{}, errors.New("there is something behind the end of the export")
		}
		return *line.End, nil
	}
}

func (in *importing) row(ctx context.Context, t table, row []any) error {
	values, err := t.decode(row)
	if err == nil {
		_, err = in.insert[t.name].ExecContext(ctx, values...)
	}
	return err
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

		// JSON has one kind of number and one of text: what each of them is, the column says.
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
			err = errors.New("it has another type")
		}
		if err != nil {
			return nil, fmt.Errorf("column %s cannot be read", c.name)
		}
	}
	return out, nil
}
