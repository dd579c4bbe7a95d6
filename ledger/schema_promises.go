package ledger

// The steps of both schemas for what was promised. A server of a version that makes no promises must not charge beside
// one that does: for each charge it reads why a period began, in a column that has another name since.

const promisesSQLite = `
CREATE TABLE promises (
  entry   INTEGER PRIMARY KEY REFERENCES audit,  -- that tells of it
  dataset TEXT NOT NULL CHECK (dataset <> ''),
  period  INTEGER NOT NULL CHECK (period >= 0),
  "table" TEXT NOT NULL CHECK ("table" <> ''),
  at      INTEGER NOT NULL,  -- microseconds since 1970
  bytes   BLOB NOT NULL CHECK (length(bytes) > 0),
  sealed  INTEGER NOT NULL CHECK (sealed IN (0, 1))
) STRICT;
CREATE INDEX promises_by_period ON promises (dataset, period, entry);
CREATE TRIGGER promises_stay  BEFORE DELETE ON promises BEGIN SELECT RAISE(ABORT, 'promises are append-only'); END;
CREATE TRIGGER promises_fixed BEFORE UPDATE ON promises BEGIN SELECT RAISE(ABORT, 'promises are append-only'); END;
ALTER TABLE periods RENAME COLUMN cause TO reason;
`

const promisesPostgres = `
CREATE TABLE promises (
  entry   bigint PRIMARY KEY REFERENCES audit,
  dataset text NOT NULL CHECK (dataset <> ''),
  period  bigint NOT NULL CHECK (period >= 0),
  "table" text NOT NULL CHECK ("table" <> ''),
  at      bigint NOT NULL,
  bytes   bytea NOT NULL CHECK (length(bytes) > 0),
  sealed  int2 NOT NULL CHECK (sealed IN (0, 1))
);
CREATE INDEX promises_by_period ON promises (dataset, period, entry);
CREATE TRIGGER promises_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON promises FOR EACH STATEMENT EXECUTE FUNCTION ` +
	`append_only();
ALTER TABLE periods RENAME COLUMN cause TO reason;
`
