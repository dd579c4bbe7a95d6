package ledger

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"fugu/ledger/audit"
)

// exportAtOnce is how many rows are read before they are written, so that a slow writer keeps no query waiting.
const exportAtOnce = 1000

// Export implements Manager.
func (l *store) Export(ctx context.Context, w io.Writer) (head audit.Link, err error) {
	err = l.snapshot(ctx, func(tx *sql.Tx) error {
		if head, err = l.seal.audit(ctx, tx, nil); err != nil {
			return err
		}
		// The ledger was verified in the same snapshot: what is exported is what was looked at.
		out := bufio.NewWriter(w)
		lines := json.NewEncoder(out)
		lines.SetEscapeHTML(false)
		if err := lines.Encode(exportHead()); err != nil {
			return err
		}

		end, err := endOf(head)
		if err != nil {
			return err
		}
		for _, t := range tables {
			n, err := t.export(ctx, tx, lines)
			if err != nil {
				return err
			}
			end.Rows += n
		}
		if err := lines.Encode(exportLine{End: &end}); err != nil {
			return err
		}
		return out.Flush()
	})
	if err != nil {
		return audit.Link{}, fmt.Errorf("exporting: %w", err)
	}
	return head, nil
}

func endOf(head audit.Link) (exportEnd, error) {
	e, err := head.Entry()
	return exportEnd{Number: e.Number, Hash: head.Hash}, err
}

// export writes all rows and returns their number.
func (t table) export(ctx context.Context, tx *sql.Tx, lines *json.Encoder) (n int64, err error) {
	query := `SELECT ` + t.list() + ` FROM ` + t.name
	key := fmt.Sprintf("%q", t.columns[0].name)
	if t.paged {
		query += ` WHERE ` + key + ` > $1 ORDER BY ` + key + fmt.Sprintf(` LIMIT %d`, exportAtOnce)
	} else {
		query += ` ORDER BY ` + t.list()
	}

	// Large tables are read page by page, by their key: one page at a time is in memory.
	for last := any(int64(-1)); ; {
		var args []any
		if t.paged {
			args = append(args, last)
		}
		var found [][]any
		err := rows(ctx, tx, query, func(row scanner) error {
			values, err := t.scan(row)
			found = append(found, values)
			return err
		}, args...)
		if err != nil {
			return n, err
		}
		for _, values := range found {
			n++
			if err := lines.Encode(exportLine{Table: t.name, Row: values}); err != nil {
				return n, err
			}
			last = values[0]
		}

		// || A page that is not full is the last one.
		if !t.paged || len(found) < exportAtOnce {
			return n, nil
		}
	}
}

// list is the table's columns as SQL.
func (t table) list() string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = fmt.Sprintf("%q", c.name)
	}
	return strings.Join(names, ", ")
}

func (t table) scan(row scanner) ([]any, error) {
	into := make([]any, len(t.columns))
	for i, c := range t.columns {
		switch c.kind {
		case integer:
			into[i] = new(int64)
		case float:
			into[i] = new(float64)
		case characters:
			into[i] = new(string)
		case octets:
			into[i] = new([]byte)
		}
	}

	if err := row.Scan(into...); err != nil {
		return nil, err
	}

	// A NULL among numbers or texts has failed by now; among bytes it is none.
	for i, v := range into {
		switch v := v.(type) {
		case *int64:
			into[i] = *v
		case *float64:
			into[i] = *v
		case *string:
			into[i] = *v
		case *[]byte:
			into[i] = append([]byte{}, *v...) // nil would be null
		}
	}
	return into, nil
}

// Backup implements Manager.
func (l *store) Backup(ctx context.Context, path string) (head audit.Link, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return audit.Link{}, fmt.Errorf("backing up: %w", err)
	}
	if l.path == "" {
		head, err = l.Export(ctx, f)
	} else {
		head, err = l.copyTo(ctx, path)
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = syncDirectory(filepath.Dir(path))
	}
	if err != nil {
		_ = os.Remove(path)
		return audit.Link{}, fmt.Errorf("backing up: %w", err)
	}
	return head, nil
}

// copyTo copies the file's state of this moment into an empty one, and verifies the copy. Others may be writing.
func (l *store) copyTo(ctx context.Context, path string) (head audit.Link, err error) {
	db, err := connect(l.path, 1, nil)
	if err != nil {
		return audit.Link{}, err
	}
	defer func() { _ = db.Close() }()

	// VACUUM INTO takes one state of the file, also while others write.
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, path); err != nil {
		return audit.Link{}, err
	}

	made, err := connect(path, 1, url.Values{"_query_only": {"1"}})
	if err != nil {
		return audit.Link{}, err
	}
	defer func() { _ = made.Close() }()

	// What was copied is read again: a copy that does not verify is no backup.
	tx, err := made.BeginTx(ctx, nil)
	if err != nil {
		return audit.Link{}, err
	}
	defer func() { _ = tx.Rollback() }()
	return l.seal.audit(ctx, tx, nil)
}

// syncDirectory makes a new file's name durable.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
