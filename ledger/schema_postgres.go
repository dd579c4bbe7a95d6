package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
)

// postgresMigrations are the steps of the schema in PostgreSQL, as migrations are those in SQLite. The version is in a
// table of one row, beside the name of the application.
var postgresMigrations = []string{`
CREATE TABLE answers (
  id           bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  key          text NOT NULL UNIQUE CHECK (key ~ '^[0-9a-f]{64}$'),
  dataset      text NOT NULL CHECK (dataset <> ''),
  scope        text NOT NULL,
  at           bigint NOT NULL,
  epsilon      float8 NOT NULL CHECK (epsilon > 0 AND epsilon <= 1.7976931348623157e308),
  delta        float8 NOT NULL CHECK (delta >= 0 AND delta < 1),
  mechanism    text NOT NULL,
  assumption   text NOT NULL,
  failed       int2 NOT NULL CHECK (failed IN (0, 1)),
  cells        text NOT NULL CHECK (cells::json IS NOT NULL),
  bytes        bytea NOT NULL CHECK ((failed = 1) = (length(bytes) = 0)),
  certificates text NOT NULL CHECK (certificates::json IS NOT NULL),
  sealed       int2 NOT NULL CHECK (sealed IN (0, 1))
);
CREATE INDEX answers_by_dataset ON answers (dataset, id);

CREATE TABLE charges (
  id     bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  answer bigint NOT NULL REFERENCES answers,
  scope  text NOT NULL,
  secret text NOT NULL CHECK (secret <> ''),
  "user" text NOT NULL CHECK ("user" <> ''),
  at     bigint NOT NULL,
  pure   float8 NOT NULL CHECK (pure   >= 0 AND pure   <= 1.7976931348623157e308),
  kappa2 float8 NOT NULL CHECK (kappa2 >= 0 AND kappa2 <= 1.7976931348623157e308),
  delta  float8 NOT NULL CHECK (delta  >= 0 AND delta  <= 1.7976931348623157e308),
  UNIQUE (answer, scope, secret)
);

CREATE TABLE totals (
  dataset  text NOT NULL,
  scope    text NOT NULL,
  secret   text NOT NULL,
  pure     float8 NOT NULL CHECK (pure   >= 0 AND pure   <= 1.7976931348623157e308),
  kappa2   float8 NOT NULL CHECK (kappa2 >= 0 AND kappa2 <= 1.7976931348623157e308),
  delta    float8 NOT NULL CHECK (delta  >= 0 AND delta  <= 1.7976931348623157e308),
  releases bigint NOT NULL CHECK (releases > 0),
  PRIMARY KEY (dataset, scope, secret)
);

CREATE TABLE audit (
  number bigint PRIMARY KEY CHECK (number >= 0),
  entry  text NOT NULL CHECK (entry::json IS NOT NULL),
  hash   text NOT NULL UNIQUE CHECK (length(hash) = 64)
);

CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% are append-only', TG_TABLE_NAME;
END $$;
CREATE FUNCTION only_grow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.dataset = OLD.dataset AND NEW.scope = OLD.scope AND NEW.secret = OLD.secret AND NEW.pure >= OLD.pure
    AND NEW.kappa2 >= OLD.kappa2 AND NEW.delta >= OLD.delta AND NEW.releases = OLD.releases + 1 THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'totals only grow';
END $$;
CREATE TRIGGER answers_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON answers FOR EACH STATEMENT EXECUTE FUNCTION ` +
	`append_only();
CREATE TRIGGER charges_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON charges FOR EACH STATEMENT EXECUTE FUNCTION ` +
	`append_only();
CREATE TRIGGER audit_stays  BEFORE UPDATE OR DELETE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION ` +
	`append_only();
CREATE TRIGGER totals_stay  BEFORE DELETE OR TRUNCATE ON totals FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE TRIGGER totals_grow  BEFORE UPDATE ON totals FOR EACH ROW EXECUTE FUNCTION only_grow();
`, `
ALTER TABLE answers ADD COLUMN epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0);
ALTER TABLE charges ADD COLUMN period bigint NOT NULL DEFAULT 0 CHECK (period >= 0);
ALTER TABLE totals ADD COLUMN period bigint NOT NULL DEFAULT 0 CHECK (period >= 0);
ALTER TABLE totals DROP CONSTRAINT totals_pkey;
ALTER TABLE totals ADD PRIMARY KEY (dataset, period, scope, secret);
CREATE OR REPLACE FUNCTION only_grow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.dataset = OLD.dataset AND NEW.period = OLD.period AND NEW.scope = OLD.scope AND NEW.secret = OLD.secret AND ` +
	`NEW.pure >= OLD.pure
    AND NEW.kappa2 >= OLD.kappa2 AND NEW.delta >= OLD.delta AND NEW.releases = OLD.releases + 1 THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'totals only grow';
END $$;

CREATE TABLE epochs (
  id          bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  dataset     text NOT NULL CHECK (dataset <> ''),
  number      bigint NOT NULL CHECK (number >= 0),
  label       text NOT NULL,
  independent int2 NOT NULL CHECK (independent IN (0, 1)),
  "user"      text NOT NULL CHECK ("user" <> ''),
  reason      text NOT NULL CHECK (reason <> ''),
  at          bigint NOT NULL,
  UNIQUE (dataset, number, label)
);
CREATE UNIQUE INDEX epochs_by_label ON epochs (dataset, label) WHERE label <> '';
CREATE TABLE periods (
  dataset text NOT NULL CHECK (dataset <> ''),
  number  bigint NOT NULL CHECK (number >= 0),
  began   bigint NOT NULL,
  at      bigint NOT NULL,
  cause   text NOT NULL CHECK (cause <> ''),
  PRIMARY KEY (dataset, number)
);
CREATE TRIGGER epochs_stay  BEFORE UPDATE OR DELETE OR TRUNCATE ON epochs FOR EACH STATEMENT EXECUTE FUNCTION ` +
	`append_only();
CREATE TRIGGER periods_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON periods FOR EACH STATEMENT EXECUTE FUNCTION ` +
	`append_only();
`,
	operationsPostgres, `
CREATE TABLE terms (
  answer bigint PRIMARY KEY REFERENCES answers,
  bytes  bytea NOT NULL,
  sealed int2 NOT NULL CHECK (sealed IN (0, 1))
);
CREATE TRIGGER terms_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON terms FOR EACH STATEMENT EXECUTE FUNCTION ` +
		`append_only();
`,
	aheadPostgres,
	promisesPostgres,
}

// postgresApplication marks a schema as a ledger.
const postgresApplication = "fugu ledger"

// migratePostgres brings the schema up to date, in one transaction that keeps out all others that want to; without a
// way to begin it only checks that it is.
func (s seal) migratePostgres(ctx context.Context, db *sql.DB, begin founding) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: begin == nil})
	if err != nil {
		return fmt.Errorf("reading the schema version: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if begin != nil {
		if err := keepOutOthers(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `CREATE SCHEMA IF NOT EXISTS `+postgresSchema); err != nil {
			return fmt.Errorf("creating the schema %s: %w", postgresSchema, err)
		}
	}

	// Nothing in it is believed before it is known whose it is.
	if err := inOwnHands(ctx, tx); err != nil {
		return err
	}

	// Behind the lock: another server may have migrated meanwhile.
	version, objects, err := postgresVersion(ctx, tx)
	switch {
	case err != nil:
		return err
	case version == len(postgresMigrations):
		return nil
	case version == 0 && begin == nil:
		return errNoLedger
	case version == 0 && objects > 0:
		return fmt.Errorf("the schema %s is not a ledger", postgresSchema)
	}
	if err := upgradable(version, len(postgresMigrations), begin); err != nil {
		return err
	}

	// The version is one row for ever, and says whose schema it is.
	if version == 0 {
		const create = `CREATE TABLE version (application text NOT NULL, version int NOT NULL);
		  CREATE UNIQUE INDEX version_is_one ON version ((true))`
		if _, err := tx.ExecContext(ctx, create); err != nil {
			return fmt.Errorf("creating the schema: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO version VALUES ($1, 0)`, postgresApplication); err != nil {
			return fmt.Errorf("creating the schema: %w", err)
		}
	}
	if err := s.upgrade(ctx, tx, postgresMigrations, begin, version, 1, 2); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE version SET version = $1`, len(postgresMigrations)); err != nil {
		return fmt.Errorf("setting the schema version: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	return nil
}

// keepOutOthers waits for another server that migrates, and has others wait for this one. A ledger that is there has
// its own table for that, on which nobody else has a right: an advisory lock could be held by any guest of the
// database, for ever, and no proxy would start. Before there is a ledger there is nothing else to lock.
func keepOutOthers(ctx context.Context, tx *sql.Tx) error {
	if err := inOwnHands(ctx, tx); err != nil {
		return err
	}
	if there, err := lockVersion(ctx, tx); there || err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, application); err != nil {
		return fmt.Errorf("waiting for another server that makes the schema: %w", err)
	}
	_, err := lockVersion(ctx, tx) // which may have been made meanwhile
	return err
}

// lockVersion locks the schema's version, if it has one.
func lockVersion(ctx context.Context, tx *sql.Tx) (there bool, err error) {
	row := tx.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, postgresSchema+".version")
	if err := row.Scan(&there); err != nil {
		return false, fmt.Errorf("looking for the schema's version: %w", err)
	}
	if !there {
		return false, nil
	}
	const lock = `LOCK TABLE ` + postgresSchema + `.version IN SHARE ROW EXCLUSIVE MODE`
	if _, err := tx.ExecContext(ctx, lock); err != nil {
		return false, fmt.Errorf("waiting for another server that migrates: %w", err)
	}
	return true, nil
}

// postgresVersion returns the version of a ledger's schema, 0 where there is none yet, and how many objects are in it.
func postgresVersion(ctx context.Context, tx *sql.Tx) (version, objects int, err error) {
	const present = `SELECT to_regclass($1) IS NOT NULL, (SELECT count(*) FROM pg_class c
	  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $2)`

	var known bool
	row := tx.QueryRowContext(ctx, present, postgresSchema+".version", postgresSchema)
	if err := row.Scan(&known, &objects); err != nil {
		return 0, 0, fmt.Errorf("reading the schema version: %w", err)
	}
	if !known {
		return 0, objects, nil
	}

	// A schema of the name that holds something else is left alone.
	var name string
	row = tx.QueryRowContext(ctx, `SELECT application, version FROM version`)
	if err := row.Scan(&name, &version); err != nil {
		return 0, 0, fmt.Errorf("reading the schema version: %w", err)
	}
	if name != postgresApplication || version < 1 {
		return 0, 0, fmt.Errorf("the schema %s is not a ledger", postgresSchema)
	}
	return version, objects, nil
}

// errNoLedger is fs.ErrNotExist in the words of a database.
var errNoLedger error = noLedger{}

type noLedger struct{}

func (noLedger) Error() string {
	return "there is no ledger in this database yet: fugu serve makes it"
}
func (noLedger) Is(target error) bool { return target == fs.ErrNotExist }
