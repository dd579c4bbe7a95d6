package integration

// A clinic has 6,000 patients, each with a name of its own, and two visits of each. Both have twins whose rows are
// not listed.
const clinicSQL = `
CREATE TABLE patients (id int PRIMARY KEY, name text NOT NULL UNIQUE, ward text NOT NULL, age int NOT NULL,
  cost numeric(9, 2) NOT NULL, weight float8, admitted date NOT NULL, insured bool NOT NULL, smoker bool NOT NULL,
    secret_note text);
INSERT INTO patients SELECT i, 'patient ' || i,
  CASE WHEN i % 600 = 0 THEN 'rare' ELSE (ARRAY['north', 'south', 'west'])[1 + i % 3] END,
  20 + (i * 7) % 60, 100 + (i * 13) % 900 + i / 10000.0, CASE WHEN i % 10 > 0 THEN 50 + (i * 11) % 50 END,
  DATE '2024-01-01' + (i * 17) % 365, i % 4 > 0, i % 20 < 7, 'note ' || i
FROM generate_series(1, 6000) AS i;
CREATE TABLE visits (id int PRIMARY KEY, patient_id int NOT NULL REFERENCES patients,
  fee numeric NOT NULL, kind text NOT NULL);
INSERT INTO visits SELECT 2 * i + k, i, 10 + (i + k) % 50,
  CASE WHEN i <= 12 THEN 'trial' WHEN k = 0 THEN 'first' ELSE 'second' END
FROM generate_series(1, 6000) AS i, generate_series(0, 1) AS k;
CREATE TABLE wards (name text PRIMARY KEY, beds int);
INSERT INTO wards VALUES ('north', 40), ('south', 50), ('west', 60), ('rare', 1);
CREATE ROLE clinic_keeper LOGIN; CREATE ROLE clinic_guest LOGIN; CREATE ROLE clinic_reader LOGIN;
GRANT SELECT ON patients, visits TO clinic_keeper, clinic_reader; GRANT CREATE ON DATABASE clinic TO clinic_keeper;
GRANT SELECT ON wards TO clinic_guest, clinic_reader;
CREATE SCHEMA own AUTHORIZATION clinic_guest; GRANT USAGE ON SCHEMA own TO clinic_reader;`
