package ledger

// The steps of both schemas that make place for what operators do: accounts that start anew (resets), answers whose
// content was dropped (compacted). Both refer to the entry of the audit chain that tells of it.

const operationsSQLite = `
CREATE TABLE resets (
  entry   INTEGER PRIMARY KEY REFERENCES audit,
  dataset TEXT NOT NULL CHECK (dataset <> ''),
  charge  INTEGER NOT NULL CHECK (charge >= 0)  -- the last one booked before
) STRICT;
CREATE TABLE compacted (
  answer  INTEGER PRIMARY KEY REFERENCES answers,
  key     TEXT NOT NULL CHECK (length(key) = 64),      -- that it had
  content TEXT NOT NULL CHECK (length(content) = 64),  -- digest of what it was
  entry   INTEGER NOT NULL REFERENCES audit
) STRICT;

CREATE TABLE totals_since (
  dataset  TEXT NOT NULL,
  scope    TEXT NOT NULL,
  secret   TEXT NOT NULL,
  pure     REAL NOT NULL CHECK (pure   >= 0 AND pure   <= 1.7976931348623157e308),
  kappa2   REAL NOT NULL CHECK (kappa2 >= 0 AND kappa2 <= 1.7976931348623157e308),
  delta    REAL NOT NULL CHECK (delta  >= 0 AND delta  <= 1.7976931348623157e308),
  releases INTEGER NOT NULL CHECK (releases > 0),
  since    INTEGER NOT NULL CHECK (since >= 0),  -- entry of the last reset before; 0: none
  PRIMARY KEY (dataset, scope, secret, since)
) STRICT, WITHOUT ROWID;
INSERT INTO totals_since SELECT dataset, scope, secret, pure, kappa2, delta, releases, 0 FROM totals;
DROP TABLE totals;
ALTER TABLE totals_since RENAME TO totals;

DROP TRIGGER answers_fixed;
CREATE TRIGGER answers_fixed BEFORE UPDATE ON answers
  WHEN NOT ((NEW.id, NEW.dataset, NEW.scope, NEW.at, NEW.epsilon, NEW.delta, NEW.mechanism, NEW.assumption, NEW.failed, NEW.certificates)
      = (OLD.id, OLD.dataset, OLD.scope, OLD.at, OLD.epsilon, OLD.delta, OLD.mechanism, OLD.assumption, OLD.failed, OLD.certificates)
    AND OLD.failed = 0 AND NEW.bytes = x'00' AND NEW.cells = '[]' AND NEW.sealed = 0 AND NEW.key <> OLD.key
    AND EXISTS (SELECT 1 FROM compacted c WHERE c.answer = OLD.id AND c.key = OLD.key))
  BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
CREATE TRIGGER totals_stay   BEFORE DELETE ON totals  BEGIN SELECT RAISE(ABORT, 'totals only grow'); END;
CREATE TRIGGER totals_grow   BEFORE UPDATE ON totals
  WHEN NOT (NEW.dataset = OLD.dataset AND NEW.scope = OLD.scope AND NEW.secret = OLD.secret AND NEW.since = OLD.since AND NEW.pure >= OLD.pure
    AND NEW.kappa2 >= OLD.kappa2 AND NEW.delta >= OLD.delta AND NEW.releases = OLD.releases + 1)
  BEGIN SELECT RAISE(ABORT, 'totals only grow'); END;
CREATE TRIGGER resets_stay     BEFORE DELETE ON resets    BEGIN SELECT RAISE(ABORT, 'resets are append-only'); END;
CREATE TRIGGER resets_fixed    BEFORE UPDATE ON resets    BEGIN SELECT RAISE(ABORT, 'resets are append-only'); END;
CREATE TRIGGER compacted_stay  BEFORE DELETE ON compacted BEGIN SELECT RAISE(ABORT, 'compacted are append-only'); END;
CREATE TRIGGER compacted_fixed BEFORE UPDATE ON compacted BEGIN SELECT RAISE(ABORT, 'compacted are append-only'); END;
`

const operationsPostgres = `
CREATE TABLE resets (
  entry   bigint PRIMARY KEY REFERENCES audit,
  dataset text NOT NULL CHECK (dataset <> ''),
  charge  bigint NOT NULL CHECK (charge >= 0)
);
CREATE TABLE compacted (
  answer  bigint PRIMARY KEY REFERENCES answers,
  key     text NOT NULL CHECK (length(key) = 64),
  content text NOT NULL CHECK (length(content) = 64),
  entry   bigint NOT NULL REFERENCES audit
);

ALTER TABLE totals ADD COLUMN since bigint NOT NULL DEFAULT 0 CHECK (since >= 0);
ALTER TABLE totals ALTER COLUMN since DROP DEFAULT;
ALTER TABLE totals DROP CONSTRAINT totals_pkey, ADD PRIMARY KEY (dataset, scope, secret, since);

CREATE OR REPLACE FUNCTION only_grow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.dataset = OLD.dataset AND NEW.scope = OLD.scope AND NEW.secret = OLD.secret AND NEW.since = OLD.since AND NEW.pure >= OLD.pure
    AND NEW.kappa2 >= OLD.kappa2 AND NEW.delta >= OLD.delta AND NEW.releases = OLD.releases + 1 THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'totals only grow';
END $$;
CREATE FUNCTION only_compacted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - '{key,bytes,cells,sealed}'::text[] = to_jsonb(OLD) - '{key,bytes,cells,sealed}'::text[]
    AND OLD.failed = 0 AND NEW.bytes = '\x00'::bytea AND NEW.cells = '[]' AND NEW.sealed = 0 AND NEW.key <> OLD.key
    AND EXISTS (SELECT FROM compacted c WHERE c.answer = OLD.id AND c.key = OLD.key) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'answers are append-only';
END $$;
DROP TRIGGER answers_stay ON answers;
CREATE TRIGGER answers_stay   BEFORE DELETE OR TRUNCATE ON answers FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE TRIGGER answers_fixed  BEFORE UPDATE ON answers FOR EACH ROW EXECUTE FUNCTION only_compacted();
CREATE TRIGGER resets_stay    BEFORE UPDATE OR DELETE OR TRUNCATE ON resets FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE TRIGGER compacted_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON compacted FOR EACH STATEMENT EXECUTE FUNCTION append_only();
`
