BEGIN TRANSACTION;
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
, certificates TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(certificates)), sealed INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1))) STRICT;
INSERT INTO "answers" VALUES(1,'fed20baada9888511b1c1403b2c478c19b23ac48256fb57ad5b4ab7c31f83a1f','adult','',1795339305012338,0.25,0.001,'expm-laplace','translation',0,'[{"column":"avg","group_key":"{\"sex\":\"Ünïcode 日本\"}","value":"38.6","sd":0.1,"lower":38.4,"upper":38.8,"secret":"income"}]',X'616E73776572206F6620616C6C','[]',0);
INSERT INTO "answers" VALUES(2,'3e8731c9028cd22c0ce85bae41b97c522dd65b236b337b6eee993ed194dd2e5c','adult','alice',1795339305013297,0.25,0.001,'expm-laplace','translation',0,'[{"column":"avg","group_key":"{\"sex\":\"Ünïcode 日本\"}","value":"38.6","sd":0.1,"lower":38.4,"upper":38.8,"secret":"income"}]',X'616E73776572206F6620616C696365','[{"secret":"income","mechanism":"directional","assumptions":["gaussian","translation"],"pair":[0.15,0.1],"epsilon":0.25,"delta":0.00099,"estimation":-1}]',0);
INSERT INTO "answers" VALUES(3,'13dcc7db91b573edc7d0a70fab6aaf2eff3f534b03236a7b1e43f550acac0489','adult','bob',1795339305015230,0.25,0.001,'expm-laplace','translation',1,'[]',X'','[]',0);
INSERT INTO "answers" VALUES(4,'64b961c49f474bcd86e42a4afec4313b1893c9ac670f93e3f213ba3ba6c6f395','adult','carol',1795339305016507,0.25,0.001,'expm-laplace','translation',0,'[{"column":"avg","group_key":"{\"sex\":\"Ünïcode 日本\"}","value":"38.6","sd":0.1,"lower":38.4,"upper":38.8,"secret":"income"}]',X'616E73776572206F66206361726F6C','[]',0);
INSERT INTO "answers" VALUES(5,'7b1b763ee8f62eb88e4742a760f912d0b19bcd58b2b948999784bacc15a7f4d7','census','',1795339305017282,0.25,0.001,'expm-laplace','translation',0,'[{"column":"avg","group_key":"{\"sex\":\"Ünïcode 日本\"}","value":"38.6","sd":0.1,"lower":38.4,"upper":38.8,"secret":"income"}]',X'616E7377657220656C73657768657265','[]',0);
CREATE TABLE audit (
  number INTEGER PRIMARY KEY CHECK (number >= 0),
  entry  TEXT NOT NULL CHECK (json_valid(entry)),
  hash   TEXT NOT NULL UNIQUE CHECK (length(hash) = 64)
) STRICT;
INSERT INTO "audit" VALUES(0,'{"number":0,"at":"2026-11-22T09:21:45.009616Z","event":"begin","before":{"answers":0,"charges":0,"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}','775cf8f242ef913830baa4d25e9960c8b5e18130f95299edb331aece3fef4364');
INSERT INTO "audit" VALUES(1,'{"number":1,"at":"2026-11-22T09:21:45.012338Z","event":"release","dataset":"adult","user":"alice","answer":1,"key":"fed20baada9888511b1c1403b2c478c19b23ac48256fb57ad5b4ab7c31f83a1f","losses":{"income":{"pure":0.25,"kappa2":0,"delta":0}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","content":"010fdc1cd99d9e13318da3ded4af13d8a6d92ed08d2e188ac447e8a21e258568"}','2b83aad5aea1ac5a6e2a4c1ba398addc8f2ab57692375ee4ea71ce279017e57b');
INSERT INTO "audit" VALUES(2,'{"number":2,"at":"2026-11-22T09:21:45.013297Z","event":"release","dataset":"adult","scope":"alice","user":"alice","answer":2,"key":"3e8731c9028cd22c0ce85bae41b97c522dd65b236b337b6eee993ed194dd2e5c","losses":{"income":{"pure":0.1,"kappa2":0.01,"delta":0},"sector":{"pure":0,"kappa2":0,"delta":0.001}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","certificates":[{"secret":"income","mechanism":"directional","assumptions":["gaussian","translation"],"pair":[0.15,0.1],"epsilon":0.25,"delta":0.00099,"estimation":-1}],"content":"2a5ad560b310e36c2a0b271ccd7c3ebb06735ce79ca54f58f39c52607a802e64"}','4409a21a2d69b97f109694ce73b1d507d100be41befe199192edb28e9da76318');
INSERT INTO "audit" VALUES(3,'{"number":3,"at":"2026-11-22T09:21:45.014075Z","event":"joined","dataset":"adult","scope":"bob","user":"bob","answer":2,"key":"3e8731c9028cd22c0ce85bae41b97c522dd65b236b337b6eee993ed194dd2e5c","losses":{"income":{"pure":0.1,"kappa2":0.01,"delta":0},"sector":{"pure":0,"kappa2":0,"delta":0.001}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","certificates":[{"secret":"income","mechanism":"directional","assumptions":["gaussian","translation"],"pair":[0.15,0.1],"epsilon":0.25,"delta":0.00099,"estimation":-1}],"content":"2a5ad560b310e36c2a0b271ccd7c3ebb06735ce79ca54f58f39c52607a802e64"}','f188189677107d7b9baccd7db2399538aff3fff6c924fee83db53c61ff5910fd');
INSERT INTO "audit" VALUES(4,'{"number":4,"at":"2026-11-22T09:21:45.01466Z","event":"joined","dataset":"adult","scope":"bob","user":"bob","answer":1,"key":"fed20baada9888511b1c1403b2c478c19b23ac48256fb57ad5b4ab7c31f83a1f","losses":{"income":{"pure":0.25,"kappa2":0,"delta":0}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","content":"010fdc1cd99d9e13318da3ded4af13d8a6d92ed08d2e188ac447e8a21e258568"}','e843a78de6a913116d8a7a21c9f86db50a1074f5a769421e2db88c1b341f7f41');
INSERT INTO "audit" VALUES(5,'{"number":5,"at":"2026-11-22T09:21:45.01523Z","event":"release","dataset":"adult","scope":"bob","user":"bob","answer":3,"key":"13dcc7db91b573edc7d0a70fab6aaf2eff3f534b03236a7b1e43f550acac0489","losses":{"income":{"pure":0.1,"kappa2":0.01,"delta":0},"sector":{"pure":0,"kappa2":0,"delta":0.001}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","failed":true,"content":"c0f81e179e73b5a8fef12730efe2f3746d22f0402dc04d7d0b5d245152c3ee25"}','6a9c5528942a00ac94f886954cca98729575daaa244eb3c3d12c64ab40bb71e8');
INSERT INTO "audit" VALUES(6,'{"number":6,"at":"2026-11-22T09:21:45.015918Z","event":"joined","dataset":"adult","user":"alice","answer":3,"key":"13dcc7db91b573edc7d0a70fab6aaf2eff3f534b03236a7b1e43f550acac0489","losses":{"income":{"pure":0.1,"kappa2":0.01,"delta":0},"sector":{"pure":0,"kappa2":0,"delta":0.001}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","failed":true,"content":"c0f81e179e73b5a8fef12730efe2f3746d22f0402dc04d7d0b5d245152c3ee25"}','17bc60d679b8f9c944a6312bd8bfb2889572354a39d71a2ce4edde14a83c2f80');
INSERT INTO "audit" VALUES(7,'{"number":7,"at":"2026-11-22T09:21:45.016507Z","event":"release","dataset":"adult","scope":"carol","user":"carol","answer":4,"key":"64b961c49f474bcd86e42a4afec4313b1893c9ac670f93e3f213ba3ba6c6f395","losses":{"income":{"pure":0.1,"kappa2":0.01,"delta":0},"sector":{"pure":0,"kappa2":0,"delta":0.001}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","content":"b7348b2b63fed05ee565b79e32127776a377c6b6fba36ee35909388d6f925f4e"}','3e95d51560fe8aa29dd56b35df7c4e8eb065351960ff374a478f7ff6396a0f4e');
INSERT INTO "audit" VALUES(8,'{"number":8,"at":"2026-11-22T09:21:45.017282Z","event":"release","dataset":"census","user":"alice","answer":5,"key":"7b1b763ee8f62eb88e4742a760f912d0b19bcd58b2b948999784bacc15a7f4d7","losses":{"income":{"pure":0.25,"kappa2":0,"delta":0}},"requested":{"Epsilon":0.25,"Delta":0.001},"mechanism":"expm-laplace","assumption":"translation","content":"e973170f3ec53dae0e8c3c5c06838935f9a3b5f2fb1698830db3aa5c2796bd12"}','0486284082c69c2b46a76e531eb5f23942b12ec3c525d08387d07dc5feb05677');
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
INSERT INTO "charges" VALUES(1,1,'','income','alice',1795339305012338,0.25,0.0,0.0);
INSERT INTO "charges" VALUES(2,2,'alice','income','alice',1795339305013297,0.1,0.01,0.0);
INSERT INTO "charges" VALUES(3,2,'alice','sector','alice',1795339305013297,0.0,0.0,0.001);
INSERT INTO "charges" VALUES(4,2,'bob','income','bob',1795339305014075,0.1,0.01,0.0);
INSERT INTO "charges" VALUES(5,2,'bob','sector','bob',1795339305014075,0.0,0.0,0.001);
INSERT INTO "charges" VALUES(6,1,'bob','income','bob',1795339305014660,0.25,0.0,0.0);
INSERT INTO "charges" VALUES(7,3,'bob','income','bob',1795339305015230,0.1,0.01,0.0);
INSERT INTO "charges" VALUES(8,3,'bob','sector','bob',1795339305015230,0.0,0.0,0.001);
INSERT INTO "charges" VALUES(9,3,'','income','alice',1795339305015918,0.1,0.01,0.0);
INSERT INTO "charges" VALUES(10,3,'','sector','alice',1795339305015918,0.0,0.0,0.001);
INSERT INTO "charges" VALUES(11,4,'carol','income','carol',1795339305016507,0.1,0.01,0.0);
INSERT INTO "charges" VALUES(12,4,'carol','sector','carol',1795339305016507,0.0,0.0,0.001);
INSERT INTO "charges" VALUES(13,5,'','income','alice',1795339305017282,0.25,0.0,0.0);
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
INSERT INTO "totals" VALUES('adult','','income',3.50000000000000033306e-01,0.01,0.0,2);
INSERT INTO "totals" VALUES('adult','','sector',0.0,0.0,0.001,1);
INSERT INTO "totals" VALUES('adult','alice','income',0.1,0.01,0.0,1);
INSERT INTO "totals" VALUES('adult','alice','sector',0.0,0.0,0.001,1);
INSERT INTO "totals" VALUES('adult','bob','income',4.50000000000000066613e-01,0.02,0.0,3);
INSERT INTO "totals" VALUES('adult','bob','sector',0.0,0.0,0.002,2);
INSERT INTO "totals" VALUES('adult','carol','income',0.1,0.01,0.0,1);
INSERT INTO "totals" VALUES('adult','carol','sector',0.0,0.0,0.001,1);
INSERT INTO "totals" VALUES('census','','income',0.25,0.0,0.0,1);
CREATE INDEX answers_by_dataset ON answers (dataset, id);
CREATE TRIGGER answers_stay  BEFORE DELETE ON answers BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
CREATE TRIGGER answers_fixed BEFORE UPDATE ON answers BEGIN SELECT RAISE(ABORT, 'answers are append-only'); END;
CREATE TRIGGER charges_stay  BEFORE DELETE ON charges BEGIN SELECT RAISE(ABORT, 'charges are append-only'); END;
CREATE TRIGGER charges_fixed BEFORE UPDATE ON charges BEGIN SELECT RAISE(ABORT, 'charges are append-only'); END;
CREATE TRIGGER totals_stay   BEFORE DELETE ON totals  BEGIN SELECT RAISE(ABORT, 'totals only grow'); END;
CREATE TRIGGER totals_grow   BEFORE UPDATE ON totals
  WHEN NOT (NEW.dataset = OLD.dataset AND NEW.scope = OLD.scope AND NEW.secret = OLD.secret AND NEW.pure >= OLD.pure
    AND NEW.kappa2 >= OLD.kappa2 AND NEW.delta >= OLD.delta AND NEW.releases = OLD.releases + 1)
  BEGIN SELECT RAISE(ABORT, 'totals only grow'); END;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_fixed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('answers',5);
INSERT INTO "sqlite_sequence" VALUES('charges',13);
COMMIT;
PRAGMA application_id = 1182099317;
PRAGMA user_version = 3;
