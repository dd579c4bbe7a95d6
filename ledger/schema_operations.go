package ledger

// The steps of both schemas that make place for answers whose content was dropped, with the entry of the audit chain
// that tells of it.

const operationsSQLite = `
CREATE TABLE compacted (
  answer  INTEGER PRIMARY KEY REFERENCES answers,
  key     TEXT NOT NULL CHECK (length(key) = 64),      -- that it had
  content TEXT NOT NULL CHECK (length(content) = 64),  -- digest of what it was
  entry   INTEGER NOT NULL REFERENCES audit
) STRICT;

DROP TRIGGER answers_fixed;
CREATE TRIGGER answers_fixed BEFORE UPDATE ON answers
  WHEN NOT ((NEW.id, NEW.dataset, NEW.scope, NEW.at, NEW.epsilon, NEW.delta, NEW.mechanism, NEW.assumption, ` +
	`NEW.failed, NEW.certificates, NEW.epoch)
      = (OLD.id, OLD.dataset, OLD.scope, OLD.at, OLD.epsilon, OLD.delta, OLD.mechanism, OLD.assumption, OLD.failed, ` +
	`OLD.certificates, OLD.epoch)
    AND OLD.failed = 0 AND NEW.bytes = x'00' AND NEW.cells = '[]' AND NEW.sealed = 0 AND NEW.key <> OLD.key
    AND EXISTS (SELECT 1 FROM compacted c WHERE c.answer = OLD.id AND c.key = OLD.key))
  BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
CREATE TRIGGER compacted_stay  BEFORE DELETE ON compacted BEGIN SELECT RAISE(ABORT, 'compacted are append-only'); END;
CREATE TRIGGER compacted_fixed BEFORE UPDATE ON compacted BEGIN SELECT RAISE(ABORT, 'compacted are append-only'); END;
`

const operationsPostgres = `
CREATE TABLE compacted (
  answer  bigint PRIMARY KEY REFERENCES answers,
  key     text NOT NULL CHECK (length(key) = 64),
  content text NOT NULL CHECK (length(content) = 64),
  entry   bigint NOT NULL REFERENCES audit
);

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
CREATE TRIGGER compacted_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON compacted FOR EACH STATEMENT EXECUTE FUNCTION ` +
	`append_only();
`
