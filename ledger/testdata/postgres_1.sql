SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA fugu_ledger;
CREATE FUNCTION fugu_ledger.append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '% are append-only', TG_TABLE_NAME;
END $$;
CREATE FUNCTION fugu_ledger.only_grow() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF NEW.dataset = OLD.dataset AND NEW.scope = OLD.scope AND NEW.secret = OLD.secret AND NEW.pure >= OLD.pure
    AND NEW.kappa2 >= OLD.kappa2 AND NEW.delta >= OLD.delta AND NEW.releases = OLD.releases + 1 THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'totals only grow';
END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE fugu_ledger.answers (
    id bigint NOT NULL,
    key text NOT NULL,
    dataset text NOT NULL,
    scope text NOT NULL,
    at bigint NOT NULL,
    epsilon double precision NOT NULL,
    delta double precision NOT NULL,
    mechanism text NOT NULL,
    assumption text NOT NULL,
    failed smallint NOT NULL,
    cells text NOT NULL,
    bytes bytea NOT NULL,
    certificates text NOT NULL,
    sealed smallint NOT NULL,
    CONSTRAINT answers_cells_check CHECK (((cells)::json IS NOT NULL)),
    CONSTRAINT answers_certificates_check CHECK (((certificates)::json IS NOT NULL)),
    CONSTRAINT answers_check CHECK (((failed = 1) = (length(bytes) = 0))),
    CONSTRAINT answers_dataset_check CHECK ((dataset <> ''::text)),
    CONSTRAINT answers_delta_check CHECK (((delta >= (0)::double precision) AND (delta < (1)::double precision))),
    CONSTRAINT answers_epsilon_check CHECK (((epsilon > (0)::double precision) AND (epsilon <= ('179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision))),
    CONSTRAINT answers_failed_check CHECK ((failed = ANY (ARRAY[0, 1]))),
    CONSTRAINT answers_key_check CHECK ((key ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT answers_sealed_check CHECK ((sealed = ANY (ARRAY[0, 1])))
);
ALTER TABLE fugu_ledger.answers ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fugu_ledger.answers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE fugu_ledger.audit (
    number bigint NOT NULL,
    entry text NOT NULL,
    hash text NOT NULL,
    CONSTRAINT audit_entry_check CHECK (((entry)::json IS NOT NULL)),
    CONSTRAINT audit_hash_check CHECK ((length(hash) = 64)),
    CONSTRAINT audit_number_check CHECK ((number >= 0))
);
CREATE TABLE fugu_ledger.charges (
    id bigint NOT NULL,
    answer bigint NOT NULL,
    scope text NOT NULL,
    secret text NOT NULL,
    "user" text NOT NULL,
    at bigint NOT NULL,
    pure double precision NOT NULL,
    kappa2 double precision NOT NULL,
    delta double precision NOT NULL,
    CONSTRAINT charges_delta_check CHECK (((delta >= (0)::double precision) AND (delta <= ('179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision))),
    CONSTRAINT charges_kappa2_check CHECK (((kappa2 >= (0)::double precision) AND (kappa2 <= ('179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision))),
    CONSTRAINT charges_pure_check CHECK (((pure >= (0)::double precision) AND (pure <= ('179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision))),
    CONSTRAINT charges_secret_check CHECK ((secret <> ''::text)),
    CONSTRAINT charges_user_check CHECK (("user" <> ''::text))
);
ALTER TABLE fugu_ledger.charges ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fugu_ledger.charges_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE fugu_ledger.totals (
    dataset text NOT NULL,
    scope text NOT NULL,
    secret text NOT NULL,
    pure double precision NOT NULL,
    kappa2 double precision NOT NULL,
    delta double precision NOT NULL,
    releases bigint NOT NULL,
    CONSTRAINT totals_delta_check CHECK (((delta >= (0)::double precision) AND (delta <= ('179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision))),
    CONSTRAINT totals_kappa2_check CHECK (((kappa2 >= (0)::double precision) AND (kappa2 <= ('179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision))),
    CONSTRAINT totals_pure_check CHECK (((pure >= (0)::double precision) AND (pure <= ('179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision))),
    CONSTRAINT totals_releases_check CHECK ((releases > 0))
);
CREATE TABLE fugu_ledger.version (
    application text NOT NULL,
    version integer NOT NULL
);
INSERT INTO fugu_ledger.answers OVERRIDING SYSTEM VALUE VALUES (1, 'fed20baada9888511b1c1403b2c478c19b23ac48256fb57ad5b4ab7c31f83a1f', 'adult', '', 1795339306121350, 0.25, 0.001, 'expm-laplace', 'translation', 0, '[{"column":"avg","group_key":"{\"sex\":\"Ünïcode 日本\"}","value":"38.6","sd":0.1,"lower":38.4,"upper":38.8,"secret":"income"}]', '\x616e73776572206f6620616c6c', '[]', 0);
INSERT INTO fugu_ledger.answers OVERRIDING SYSTEM VALUE VALUES (2, '3e8731c9028cd22c0ce85bae41b97c522dd65b236b337b6eee993ed194dd2e5c', 'adult', 'alice', 1795339306125409, 0.25, 0.001, 'expm-laplace', 'translation', 0, '[{"column":"avg","group_key":"{\"sex\":\"Ünïcode 日本\"}","value":"38.6","sd":0.1,"lower":38.4,"upper":38.8,"secret":"income"}]', '\x616e73776572206f6620616c696365', '[{"secret":"income","mechanism":"directional","assumptions":["gaussian","translation"],"pair":[0.15,0.1],"epsilon":0.25,"delta":0.00099,"estimation":-1}]', 0);
INSERT INTO fugu_ledger.answers OVERRIDING SYSTEM VALUE VALUES (3, '13dcc7db91b573edc7d0a70fab6aaf2eff3f534b03236a7b1e43f550acac0489', 'adult', 'bob', 1795339306134724, 0.25, 0.001, 'expm-laplace', 'translation', 1, '[]', '\x', '[]', 0);
INSERT INTO fugu_ledger.answers OVERRIDING SYSTEM VALUE VALUES (4, '64b961c49f474bcd86e42a4afec4313b1893c9ac670f93e3f213ba3ba6c6f395', 'adult', 'carol', 1795339306140798, 0.25, 0.001, 'expm-laplace', 'translation', 0, '[{"column":"avg","group_key":"{\"sex\":\"Ünïcode 日本\"}","value":"38.6","sd":0.1,"lower":38.4,"upper":38.8,"secret":"income"}]', '\x616e73776572206f66206361726f6c', '[]', 0);
INSERT INTO fugu_ledger.answers OVERRIDING SYSTEM VALUE VALUES (5, '7b1b763ee8f62eb88e4742a760f912d0b19bcd58b2b948999784bacc15a7f4d7', 'census', '', 1795339306143629, 0.25, 0.001, 'expm-laplace', 'translation', 0, '[{"column":"avg","group_key":"{\"sex\":\"Ünïcode 日本\"}","value":"38.6","sd":0.1,"lower":38.4,"upper":38.8,"secret":"income"}]', '\x616e7377657220656c73657768657265', '[]', 0);
INSERT INTO fugu_ledger.audit VALUES (0, '{"number":0,"at":"2026-11-22T09:21:46.101472Z","event":"begin","before":{"answers":0,"charges":0,"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}', 'dd614337da531573691b9d5658ffbb16e02d104d989748c41d1adac54182bce6');
INSERT INTO fugu_ledger.audit VALUES (1, '{"number":1,"at":"2026-11-22T09:21:46.12135Z","event":"release","dataset":"adult","user":"alice","answer":1,"key":"fed20baada9888511b1c1403b2c478c19b23ac48256fb57ad5b4ab7c31f83a1f","losses":{"income":{"pure":0.25,"kappa2":0,"delta":0}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","content":"010fdc1cd99d9e13318da3ded4af13d8a6d92ed08d2e188ac447e8a21e258568"}', 'dcece27a5cb02cfbb0bcf74bd557500d95aba3f34be009122fc4f4b2fd75a924');
INSERT INTO fugu_ledger.audit VALUES (2, '{"number":2,"at":"2026-11-22T09:21:46.125409Z","event":"release","dataset":"adult","scope":"alice","user":"alice","answer":2,"key":"3e8731c9028cd22c0ce85bae41b97c522dd65b236b337b6eee993ed194dd2e5c","losses":{"income":{"pure":0.1,"kappa2":0.01,"delta":0},"sector":{"pure":0,"kappa2":0,"delta":0.001}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","certificates":[{"secret":"income","mechanism":"directional","assumptions":["gaussian","translation"],"pair":[0.15,0.1],"epsilon":0.25,"delta":0.00099,"estimation":-1}],"content":"2a5ad560b310e36c2a0b271ccd7c3ebb06735ce79ca54f58f39c52607a802e64"}', 'a55485ae46693585b183bb6282b54bd80bed4b67d27a0a00e0a6036ac2ba829a');
INSERT INTO fugu_ledger.audit VALUES (3, '{"number":3,"at":"2026-11-22T09:21:46.129056Z","event":"joined","dataset":"adult","scope":"bob","user":"bob","answer":2,"key":"3e8731c9028cd22c0ce85bae41b97c522dd65b236b337b6eee993ed194dd2e5c","losses":{"income":{"pure":0.1,"kappa2":0.01,"delta":0},"sector":{"pure":0,"kappa2":0,"delta":0.001}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","certificates":[{"secret":"income","mechanism":"directional","assumptions":["gaussian","translation"],"pair":[0.15,0.1],"epsilon":0.25,"delta":0.00099,"estimation":-1}],"content":"2a5ad560b310e36c2a0b271ccd7c3ebb06735ce79ca54f58f39c52607a802e64"}', 'c9dae50e2ea972d65a8505ababb2cbe73c344a93fb873277c0c537c3de91c724');
INSERT INTO fugu_ledger.audit VALUES (4, '{"number":4,"at":"2026-11-22T09:21:46.13217Z","event":"joined","dataset":"adult","scope":"bob","user":"bob","answer":1,"key":"fed20baada9888511b1c1403b2c478c19b23ac48256fb57ad5b4ab7c31f83a1f","losses":{"income":{"pure":0.25,"kappa2":0,"delta":0}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","content":"010fdc1cd99d9e13318da3ded4af13d8a6d92ed08d2e188ac447e8a21e258568"}', '1dfb54f47f46cc6b5a1a2f37f92eaf921ae399c9646440f293cd26e67c52741a');
INSERT INTO fugu_ledger.audit VALUES (5, '{"number":5,"at":"2026-11-22T09:21:46.134724Z","event":"release","dataset":"adult","scope":"bob","user":"bob","answer":3,"key":"13dcc7db91b573edc7d0a70fab6aaf2eff3f534b03236a7b1e43f550acac0489","losses":{"income":{"pure":0.1,"kappa2":0.01,"delta":0},"sector":{"pure":0,"kappa2":0,"delta":0.001}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","failed":true,"content":"c0f81e179e73b5a8fef12730efe2f3746d22f0402dc04d7d0b5d245152c3ee25"}', 'db10442325c0cd5a675899cbbeb38f8f80d4de424258436c96c48fa67d390dde');
INSERT INTO fugu_ledger.audit VALUES (6, '{"number":6,"at":"2026-11-22T09:21:46.138204Z","event":"joined","dataset":"adult","user":"alice","answer":3,"key":"13dcc7db91b573edc7d0a70fab6aaf2eff3f534b03236a7b1e43f550acac0489","losses":{"income":{"pure":0.1,"kappa2":0.01,"delta":0},"sector":{"pure":0,"kappa2":0,"delta":0.001}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","failed":true,"content":"c0f81e179e73b5a8fef12730efe2f3746d22f0402dc04d7d0b5d245152c3ee25"}', 'f754c7031e29927e1bf6db43ded94dd8efa11917de3e61564d2fb84851e5d5a8');
INSERT INTO fugu_ledger.audit VALUES (7, '{"number":7,"at":"2026-11-22T09:21:46.140798Z","event":"release","dataset":"adult","scope":"carol","user":"carol","answer":4,"key":"64b961c49f474bcd86e42a4afec4313b1893c9ac670f93e3f213ba3ba6c6f395","losses":{"income":{"pure":0.1,"kappa2":0.01,"delta":0},"sector":{"pure":0,"kappa2":0,"delta":0.001}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","content":"b7348b2b63fed05ee565b79e32127776a377c6b6fba36ee35909388d6f925f4e"}', 'c6c5c5ce9fd00fb94e3fe26291fb1c5297e63ecc637351a1fc3ac51e0f21073b');
INSERT INTO fugu_ledger.audit VALUES (8, '{"number":8,"at":"2026-11-22T09:21:46.143629Z","event":"release","dataset":"census","user":"alice","answer":5,"key":"7b1b763ee8f62eb88e4742a760f912d0b19bcd58b2b948999784bacc15a7f4d7","losses":{"income":{"pure":0.25,"kappa2":0,"delta":0}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","content":"e973170f3ec53dae0e8c3c5c06838935f9a3b5f2fb1698830db3aa5c2796bd12"}', '08c98cb8ab1f558d721ed39712df92bcefabbdb5d49fe5782c459214cf73b97b');
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (1, 1, '', 'income', 'alice', 1795339306121350, 0.25, 0, 0);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (2, 2, 'alice', 'income', 'alice', 1795339306125409, 0.1, 0.01, 0);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (3, 2, 'alice', 'sector', 'alice', 1795339306125409, 0, 0, 0.001);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (4, 2, 'bob', 'income', 'bob', 1795339306129056, 0.1, 0.01, 0);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (5, 2, 'bob', 'sector', 'bob', 1795339306129056, 0, 0, 0.001);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (6, 1, 'bob', 'income', 'bob', 1795339306132170, 0.25, 0, 0);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (7, 3, 'bob', 'income', 'bob', 1795339306134724, 0.1, 0.01, 0);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (8, 3, 'bob', 'sector', 'bob', 1795339306134724, 0, 0, 0.001);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (9, 3, '', 'income', 'alice', 1795339306138204, 0.1, 0.01, 0);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (10, 3, '', 'sector', 'alice', 1795339306138204, 0, 0, 0.001);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (11, 4, 'carol', 'income', 'carol', 1795339306140798, 0.1, 0.01, 0);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (12, 4, 'carol', 'sector', 'carol', 1795339306140798, 0, 0, 0.001);
INSERT INTO fugu_ledger.charges OVERRIDING SYSTEM VALUE VALUES (13, 5, '', 'income', 'alice', 1795339306143629, 0.25, 0, 0);
INSERT INTO fugu_ledger.totals VALUES ('adult', 'alice', 'income', 0.1, 0.01, 0, 1);
INSERT INTO fugu_ledger.totals VALUES ('adult', 'alice', 'sector', 0, 0, 0.001, 1);
INSERT INTO fugu_ledger.totals VALUES ('adult', 'bob', 'income', 0.45000000000000007, 0.02, 0, 3);
INSERT INTO fugu_ledger.totals VALUES ('adult', 'bob', 'sector', 0, 0, 0.002, 2);
INSERT INTO fugu_ledger.totals VALUES ('adult', '', 'income', 0.35000000000000003, 0.01, 0, 2);
INSERT INTO fugu_ledger.totals VALUES ('adult', '', 'sector', 0, 0, 0.001, 1);
INSERT INTO fugu_ledger.totals VALUES ('adult', 'carol', 'income', 0.1, 0.01, 0, 1);
INSERT INTO fugu_ledger.totals VALUES ('adult', 'carol', 'sector', 0, 0, 0.001, 1);
INSERT INTO fugu_ledger.totals VALUES ('census', '', 'income', 0.25, 0, 0, 1);
INSERT INTO fugu_ledger.version VALUES ('fugu ledger', 1);
SELECT pg_catalog.setval('fugu_ledger.answers_id_seq', 5, true);
SELECT pg_catalog.setval('fugu_ledger.charges_id_seq', 13, true);
ALTER TABLE ONLY fugu_ledger.answers
    ADD CONSTRAINT answers_key_key UNIQUE (key);
ALTER TABLE ONLY fugu_ledger.answers
    ADD CONSTRAINT answers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY fugu_ledger.audit
    ADD CONSTRAINT audit_hash_key UNIQUE (hash);
ALTER TABLE ONLY fugu_ledger.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (number);
ALTER TABLE ONLY fugu_ledger.charges
    ADD CONSTRAINT charges_answer_scope_secret_key UNIQUE (answer, scope, secret);
ALTER TABLE ONLY fugu_ledger.charges
    ADD CONSTRAINT charges_pkey PRIMARY KEY (id);
ALTER TABLE ONLY fugu_ledger.totals
    ADD CONSTRAINT totals_pkey PRIMARY KEY (dataset, scope, secret);
CREATE INDEX answers_by_dataset ON fugu_ledger.answers USING btree (dataset, id);
CREATE UNIQUE INDEX version_is_one ON fugu_ledger.version USING btree ((true));
CREATE TRIGGER answers_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON fugu_ledger.answers FOR EACH STATEMENT EXECUTE FUNCTION fugu_ledger.append_only();
CREATE TRIGGER audit_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON fugu_ledger.audit FOR EACH STATEMENT EXECUTE FUNCTION fugu_ledger.append_only();
CREATE TRIGGER charges_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON fugu_ledger.charges FOR EACH STATEMENT EXECUTE FUNCTION fugu_ledger.append_only();
CREATE TRIGGER totals_grow BEFORE UPDATE ON fugu_ledger.totals FOR EACH ROW EXECUTE FUNCTION fugu_ledger.only_grow();
CREATE TRIGGER totals_stay BEFORE DELETE OR TRUNCATE ON fugu_ledger.totals FOR EACH STATEMENT EXECUTE FUNCTION fugu_ledger.append_only();
ALTER TABLE ONLY fugu_ledger.charges
    ADD CONSTRAINT charges_answer_fkey FOREIGN KEY (answer) REFERENCES fugu_ledger.answers(id);
