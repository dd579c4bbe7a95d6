package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// application marks the file as a ledger: "Fugu" in SQLite's application_id.
const application = 0x46756775

// migrations are the steps from each schema version to the next; the version is SQLite's user_version. A step that was
// released is never edited.
var migrations = []string{`
CREATE TABLE answers (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  key        TEXT NOT NULL UNIQUE CHECK (length(key) = 64 AND key NOT GLOB '*[^0-9a-f]*'),
  dataset    TEXT NOT NULL CHECK (dataset <> ''),
  scope      TEXT NOT NULL,     -- who paid first
  at         INTEGER NOT NULL,  -- microseconds since 1970
  epsilon    REAL NOT NULL CHECK (epsilon > 0 AND epsilon <= 1.7976931348623157e308),  -- as requested
  delta      REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
  mechanism  TEXT NOT NULL,
  assumption TEXT NOT NULL,
  failed     INTEGER NOT NULL CHECK (failed IN (0, 1)),
  cells      TEXT NOT NULL CHECK (json_valid(cells)),
  bytes      BLOB NOT NULL CHECK (failed = (length(bytes) = 0))
) STRICT;
CREATE INDEX answers_by_dataset ON answers (dataset, id);

CREATE TABLE charges (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order in which totals were summed
  answer INTEGER NOT NULL REFERENCES answers,
  scope  TEXT NOT NULL,
  secret TEXT NOT NULL CHECK (secret <> ''),
  user   TEXT NOT NULL CHECK (user <> ''),
  at     INTEGER NOT NULL,
  pure   REAL NOT NULL CHECK (pure   >= 0 AND pure   <= 1.7976931348623157e308),
  kappa2 REAL NOT NULL CHECK (kappa2 >= 0 AND kappa2 <= 1.7976931348623157e308),
  delta  REAL NOT NULL CHECK (delta  >= 0 AND delta  <= 1.7976931348623157e308),
  UNIQUE (answer, scope, secret)
) STRICT;

CREATE TABLE totals (
  dataset  TEXT NOT NULL,
  scope    TEXT NOT NULL,
  secret   TEXT NOT NULL,
  pure     REAL NOT NULL CHECK (pure   >= 0 AND pure   <= 1.7976931348623157e308),
  kappa2   REAL NOT NULL CHECK (kappa2 >= 0 AND kappa2 <= 1.7976931348623157e308),
  delta    REAL NOT NULL CHECK (delta  >= 0 AND delta  <= 1.7976931348623157e308),
  releases INTEGER NOT NULL CHECK (releases > 0),
  PRIMARY KEY (dataset, scope, secret)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER answers_stay  BEFORE DELETE ON answers BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
CREATE TRIGGER answers_fixed BEFORE UPDATE ON answers BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
CREATE TRIGGER charges_stay  BEFORE DELETE ON charges BEGIN SELECT RAISE(ABORT, 'charges are append-only'); END;
CREATE TRIGGER charges_fixed BEFORE UPDATE ON charges BEGIN SELECT RAISE(ABORT, 'charges are append-only'); END;
CREATE TRIGGER totals_stay   BEFORE DELETE ON totals  BEGIN SELECT RAISE(ABORT, 'totals only grow'); END;
CREATE TRIGGER totals_grow   BEFORE UPDATE ON totals
  WHEN NOT (NEW.dataset = OLD.dataset AND NEW.scope = OLD.scope AND NEW.secret = OLD.secret AND NEW.pure >= OLD.pure
    AND NEW.kappa2 >= OLD.kappa2 AND NEW.delta >= OLD.delta AND NEW.releases = OLD.releases + 1)
  BEGIN SELECT RAISE(ABORT, 'totals only grow'); END;
`, `
ALTER TABLE answers ADD COLUMN certificates TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(certificates));
`, `
ALTER TABLE answers ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1));
CREATE TABLE audit (
  number INTEGER PRIMARY KEY CHECK (number >= 0),
  entry  TEXT NOT NULL CHECK (json_valid(entry)),
  hash   TEXT NOT NULL UNIQUE CHECK (length(hash) = 64)
) STRICT;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_fixed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
`, `
ALTER TABLE answers ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0 CHECK (epoch >= 0);
ALTER TABLE charges ADD COLUMN period INTEGER NOT NULL DEFAULT 0 CHECK (period >= 0);
CREATE TABLE totals_by_period (
  dataset  TEXT NOT NULL,
  scope    TEXT NOT NULL,
  secret   TEXT NOT NULL,
  pure     REAL NOT NULL CHECK (pure   >= 0 AND pure   <= 1.7976931348623157e308),
  kappa2   REAL NOT NULL CHECK (kappa2 >= 0 AND kappa2 <= 1.7976931348623157e308),
  delta    REAL NOT NULL CHECK (delta  >= 0 AND delta  <= 1.7976931348623157e308),
  releases INTEGER NOT NULL CHECK (releases > 0),
  period   INTEGER NOT NULL DEFAULT 0 CHECK (period >= 0),
  PRIMARY KEY (dataset, period, scope, secret)
) STRICT, WITHOUT ROWID;
INSERT INTO totals_by_period SELECT dataset, scope, secret, pure, kappa2, delta, releases, 0 FROM totals;
DROP TABLE totals;
ALTER TABLE totals_by_period RENAME TO totals;
CREATE TRIGGER totals_stay   BEFORE DELETE ON totals  BEGIN SELECT RAISE(ABORT, 'totals only grow'); END;
CREATE TRIGGER totals_grow   BEFORE UPDATE ON totals
  WHEN NOT (NEW.dataset = OLD.dataset AND NEW.period = OLD.period AND NEW.scope = OLD.scope AND NEW.secret = ` +
	`OLD.secret AND NEW.pure >= OLD.pure
    AND NEW.kappa2 >= OLD.kappa2 AND NEW.delta >= OLD.delta AND NEW.releases = OLD.releases + 1)
  BEGIN SELECT RAISE(ABORT, 'totals only grow'); END;

CREATE TABLE epochs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,  -- the last one of a dataset stands
  dataset     TEXT NOT NULL CHECK (dataset <> ''),
  number      INTEGER NOT NULL CHECK (number >= 0),
  label       TEXT NOT NULL,     -- may be empty
  independent INTEGER NOT NULL CHECK (independent IN (0, 1)),
  user        TEXT NOT NULL CHECK (user <> ''),
  reason      TEXT NOT NULL CHECK (reason <> ''),
  at          INTEGER NOT NULL,  -- microseconds since 1970
  UNIQUE (dataset, number, label)
) STRICT;
CREATE UNIQUE INDEX epochs_by_label ON epochs (dataset, label) WHERE label <> '';
CREATE TABLE periods (
  dataset TEXT NOT NULL CHECK (dataset <> ''),
  number  INTEGER NOT NULL CHECK (number >= 0),  -- the last one of a dataset is that of every charge
  began   INTEGER NOT NULL,  -- microseconds since 1970
  at      INTEGER NOT NULL,  -- when that was seen
  cause   TEXT NOT NULL CHECK (cause <> ''),
  PRIMARY KEY (dataset, number)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER epochs_stay   BEFORE DELETE ON epochs  BEGIN SELECT RAISE(ABORT, 'epochs are append-only'); END;
CREATE TRIGGER epochs_fixed  BEFORE UPDATE ON epochs  BEGIN SELECT RAISE(ABORT, 'epochs are append-only'); END;
CREATE TRIGGER periods_stay  BEFORE DELETE ON periods BEGIN SELECT RAISE(ABORT, 'periods are append-only'); END;
CREATE TRIGGER periods_fixed BEFORE UPDATE ON periods BEGIN SELECT RAISE(ABORT, 'periods are append-only'); END;
`,
	operationsSQLite, `
CREATE TABLE terms (
  answer INTEGER PRIMARY KEY REFERENCES answers,
  bytes  BLOB NOT NULL,
  sealed INTEGER NOT NULL CHECK (sealed IN (0, 1))
) STRICT;
CREATE TRIGGER terms_stay  BEFORE DELETE ON terms BEGIN SELECT RAISE(ABORT, 'terms are append-only'); END;
CREATE TRIGGER terms_fixed BEFORE UPDATE ON terms BEGIN SELECT RAISE(ABORT, 'terms are append-only'); END;
`,
	aheadSQLite,
	promisesSQLite,
}

// migrateSQLite brings the schema up to date, in one transaction; without a way to begin it only checks that it is.
func (s seal) migrateSQLite(ctx context.Context, db *sql.DB, begin founding) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("reading the schema version: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var id, version, objects int
	row := tx.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
	  FROM pragma_application_id, pragma_user_version`)
	if err := row.Scan(&id, &version, &objects); err != nil {
		return fmt.Errorf("reading the schema version: %w", err)
	}

	// A file of another program is left as it is, and so is one of a later Fugu.
	empty := id == 0 && version == 0 && objects == 0
	switch {
	case id != application && !(empty && begin != nil):
		return errors.New("the file is not a ledger")
	case version < 0 || version == 0 && !empty:
		return fmt.Errorf("unknown schema %d", version)
	case version == len(migrations):
		return nil
	}
	if err := upgradable(version, len(migrations), begin); err != nil {
		return err
	}

	if err := s.upgrade(ctx, tx, migrations, begin, version, 3, 4); err != nil {
		return err
	}
	stamp := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", application, len(migrations))
	if _, err := tx.ExecContext(ctx, stamp); err != nil {
		return fmt.Errorf("setting the schema version: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	return nil
}
