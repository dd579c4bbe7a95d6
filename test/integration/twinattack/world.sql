-- A small census with the columns that the attacks of an analyst name, and a table whose rows go with its rows.
CREATE TABLE adult (
  id int PRIMARY KEY, age int NOT NULL CHECK (age > 0), fnlwgt int, education text, education_num int, sex text COLLATE "C", race text,
  hours_per_week int DEFAULT 40, capital_gain int, income text NOT NULL, name text UNIQUE, token uuid UNIQUE, joined date, spike float8, note text, ssn text);
CREATE TABLE visit (id bigint PRIMARY KEY, person int NOT NULL REFERENCES adult, day date, cost numeric(12,2));
-- Statistics are so short that none of them is put out of line: values that are take numbers from the counter of
-- oids, which shows then in the oids of what is made later.
ALTER TABLE adult ALTER education SET STATISTICS 5, ALTER sex SET STATISTICS 5, ALTER race SET STATISTICS 5, ALTER income SET STATISTICS 5,
  ALTER name SET STATISTICS 5, ALTER token SET STATISTICS 5, ALTER note SET STATISTICS 5, ALTER ssn SET STATISTICS 5;
COMMENT ON TABLE adult IS 'a census';
CREATE INDEX by_income ON adult (income, age);
CREATE INDEX high ON adult (age) WHERE income = '>50K';
CREATE INDEX visit_person ON visit (person);
CREATE TABLE plain (region text, weight int);                        -- ordinary
INSERT INTO plain VALUES ('Female', 1), ('Male', 2), ('Bachelors', 3);
CREATE SCHEMA own AUTHORIZATION world_guest;
GRANT SELECT ON adult, visit TO world_keeper;
GRANT CREATE ON DATABASE world TO world_keeper;
GRANT SELECT, INSERT, UPDATE, DELETE ON plain TO world_guest;
GRANT SELECT ON plain TO world_reader;
