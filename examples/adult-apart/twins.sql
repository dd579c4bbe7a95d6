-- On the server of twins, in its database adult_twin: who owns them, who reads them, and an ordinary table beside them.
CREATE ROLE fugu_twins LOGIN;                           -- `fugu twin` writes as this role; `fugu serve` never does
CREATE ROLE fugu_guest LOGIN;                           -- clients
GRANT CREATE ON DATABASE adult_twin TO fugu_twins;           -- the schemas fugu_twin and fugu say what there is
GRANT CREATE ON SCHEMA public TO fugu_twins;            -- the twin of public.adult is public.adult here
CREATE SCHEMA desk AUTHORIZATION fugu_guest;            -- the analysts' own: tables, views, functions
CREATE TABLE desk.region (name text PRIMARY KEY, part text);
INSERT INTO desk.region VALUES ('Male', 'M'), ('Female', 'F');
GRANT SELECT ON desk.region TO fugu_guest;
