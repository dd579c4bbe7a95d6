-- Moves the temporary table census into the tables of schema.sql: of its rows without missing values, in the order of
-- the md5 of the whole row, the first 10,000 are the public reference and the rest are protected.
CREATE TEMP TABLE ordered AS
  SELECT census AS person, row_number() OVER (ORDER BY md5(census::text) COLLATE "C") AS n FROM census WHERE census IS NOT NULL;
INSERT INTO adult_reference SELECT (person).* FROM ordered WHERE n <= 10000 ORDER BY n;
INSERT INTO adult SELECT (person).* FROM ordered WHERE n > 10000 ORDER BY n;
DROP TABLE ordered, census;

INSERT INTO country VALUES
  ('Cambodia', 'Asia'), ('Canada', 'North America'), ('China', 'Asia'), ('Columbia', 'South America'),
  ('Cuba', 'North America'), ('Dominican-Republic', 'North America'), ('Ecuador', 'South America'),
  ('El-Salvador', 'North America'), ('England', 'Europe'), ('France', 'Europe'), ('Germany', 'Europe'),
  ('Greece', 'Europe'), ('Guatemala', 'North America'), ('Haiti', 'North America'), ('Holand-Netherlands', 'Europe'),
  ('Honduras', 'North America'), ('Hong', 'Asia'), ('Hungary', 'Europe'), ('India', 'Asia'), ('Iran', 'Asia'),
  ('Ireland', 'Europe'), ('Italy', 'Europe'), ('Jamaica', 'North America'), ('Japan', 'Asia'), ('Laos', 'Asia'),
  ('Mexico', 'North America'), ('Nicaragua', 'North America'), ('Outlying-US(Guam-USVI-etc)', 'Oceania'),
  ('Peru', 'South America'), ('Philippines', 'Asia'), ('Poland', 'Europe'), ('Portugal', 'Europe'),
  ('Puerto-Rico', 'North America'), ('Scotland', 'Europe'), ('South', 'Asia'), ('Taiwan', 'Asia'),
  ('Thailand', 'Asia'), ('Trinadad&Tobago', 'North America'), ('United-States', 'North America'), ('Vietnam', 'Asia'),
  ('Yugoslavia', 'Europe');

ANALYZE adult, adult_reference, country;
