package ledger

// The steps of both schemas for questions that are charged ahead of their answers: a row of answers is written when it
// is charged (begun = 1), and once more when the answer is known (begun = 2). Rows with begun = 0 came with their
// answers.

const aheadSQLite = `
ALTER TABLE answers ADD COLUMN begun INTEGER NOT NULL DEFAULT 0 CHECK (begun IN (0, 1, 2));

DROP TRIGGER answers_fixed;
CREATE TRIGGER answers_fixed BEFORE UPDATE ON answers
  WHEN NOT ((NEW.id, NEW.dataset, NEW.scope, NEW.at, NEW.epsilon, NEW.delta, NEW.mechanism, NEW.assumption, ` +
	`NEW.certificates, NEW.epoch)
      = (OLD.id, OLD.dataset, OLD.scope, OLD.at, OLD.epsilon, OLD.delta, OLD.mechanism, OLD.assumption, ` +
	`OLD.certificates, OLD.epoch)
    AND (NEW.failed = OLD.failed AND NEW.begun = OLD.begun
        AND OLD.failed = 0 AND NEW.bytes = x'00' AND NEW.cells = '[]' AND NEW.sealed = 0 AND NEW.key <> OLD.key
        AND EXISTS (SELECT 1 FROM compacted c WHERE c.answer = OLD.id AND c.key = OLD.key)
      OR OLD.begun = 1 AND NEW.begun = 2 AND NEW.key = OLD.key AND NOT EXISTS (SELECT 1 FROM compacted c WHERE ` +
	`c.answer = OLD.id)))
  BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
`

const aheadPostgres = `
ALTER TABLE answers ADD COLUMN begun int2 NOT NULL DEFAULT 0 CHECK (begun IN (0, 1, 2));

CREATE OR REPLACE FUNCTION only_compacted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - '{key,bytes,cells,sealed}'::text[] = to_jsonb(OLD) - '{key,bytes,cells,sealed}'::text[]
    AND OLD.failed = 0 AND NEW.bytes = '\x00'::bytea AND NEW.cells = '[]' AND NEW.sealed = 0 AND NEW.key <> OLD.key
    AND EXISTS (SELECT FROM compacted c WHERE c.answer = OLD.id AND c.key = OLD.key) THEN
    RETURN NEW;
  END IF;
  IF to_jsonb(NEW) - '{failed,bytes,cells,sealed,begun}'::text[] = to_jsonb(OLD) - ` +
	`'{failed,bytes,cells,sealed,begun}'::text[]
    AND OLD.begun = 1 AND NEW.begun = 2 AND NOT EXISTS (SELECT FROM compacted c WHERE c.answer = OLD.id) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'answers are append-only';
END $$;
`
