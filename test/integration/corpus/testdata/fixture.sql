-- A shop and a clinic. Run by a superuser in a new database.
CREATE TABLE countries (code text PRIMARY KEY, name text NOT NULL, region text NOT NULL, population int8);
INSERT INTO countries VALUES
  ('AT', 'Austria', 'Europe', 9100000), ('BR', 'Brazil', 'America', 214300000), ('CH', 'Switzerland', 'Europe', 8700000),
  ('DE', 'Germany', 'Europe', 83200000), ('JP', 'Japan', 'Asia', NULL), ('FR', 'France', 'Europe', 67800000);

CREATE TABLE products (id int PRIMARY KEY, sku varchar(12) NOT NULL UNIQUE, name text NOT NULL, category text NOT NULL,
  list_price numeric(10,2) NOT NULL, weight float8, active bool NOT NULL);
INSERT INTO products SELECT i, 'SKU-' || lpad(i::text, 4, '0'), (ARRAY['Lamp','Chair','Desk','Shelf','Stool'])[1 + i % 5] || ' ' || i,
  (ARRAY['Light','Seat','Table'])[1 + i % 3], 9.90 + 7.35 * i, CASE WHEN i % 7 > 0 THEN 0.5 + i / 4.0 END, i % 4 > 0 FROM generate_series(1, 40) i;

CREATE TABLE tags (product_id int NOT NULL REFERENCES products, tag text NOT NULL, PRIMARY KEY (product_id, tag));
INSERT INTO tags SELECT i, t FROM generate_series(1, 40) i, unnest(ARRAY['new','sale','eco']) WITH ORDINALITY u(t, n) WHERE (i + n) % 3 > 0;

CREATE TABLE calendar (day date PRIMARY KEY, month date NOT NULL, quarter int NOT NULL, is_weekend bool NOT NULL);
INSERT INTO calendar SELECT d, date_trunc('month', d), extract(quarter FROM d), extract(isodow FROM d) > 5
  FROM generate_series(date '2024-01-01', date '2024-12-31', interval '1 day') d;

CREATE TABLE targets (country text NOT NULL, month date NOT NULL, amount numeric NOT NULL, PRIMARY KEY (country, month));
INSERT INTO targets SELECT c, date '2024-01-01' + make_interval(months => m), 1000 + 10 * m FROM unnest(ARRAY['AT','BR','CH','DE','JP']) c, generate_series(0, 11) m;

-- The columns repeat with periods that have no common divisor, so that every combination of group keys occurs.
CREATE TABLE orders (
  id int8 NOT NULL, customer_id int NOT NULL, product_id int, status text NOT NULL, channel text NOT NULL, country text NOT NULL, segment varchar(10) NOT NULL,
  created_at timestamp NOT NULL, created_on date NOT NULL, shipped_at timestamptz, is_paid bool NOT NULL, is_gift bool,
  amount numeric(12,2) NOT NULL, tax real NOT NULL, discount float8, quantity int NOT NULL, priority int2 NOT NULL, rating int, note text, "Unit Price" numeric NOT NULL);
INSERT INTO orders
SELECT n, 1 + n * 37 % 211, CASE WHEN n % 19 > 0 THEN 1 + n * 17 % 41 % 40 END,
  (ARRAY['new','open','shipped','returned'])[1 + n % 4], (ARRAY['web','shop','phone'])[1 + n / 4 % 3], (ARRAY['AT','BR','CH','DE','JP'])[1 + n / 12 % 5],
  (ARRAY['consumer','business'])[1 + n % 37 % 2],
  made, made::date, CASE WHEN n % 4 >= 2 THEN (made + interval '30 hours') AT TIME ZONE 'UTC' END, n % 13 < 9, CASE WHEN n % 11 > 0 THEN n % 17 < 6 END,
  (10 + n * 7919 % 49000 / 100.0)::numeric(12,2), n * 31 % 200 / 8.0, CASE WHEN n % 5 > 0 THEN n * 13 % 64 / 256.0 END, 1 + n % 23 % 9, 1 + n % 7 % 3,
  CASE WHEN n % 29 > 3 THEN 1 + n % 29 % 5 END, CASE n % 7 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'Call back' WHEN 3 THEN 'urgent: 50% off' ELSE 'note ' || n % 10 END,
  5 + n * 3 % 40
FROM (SELECT n, timestamp '2024-01-01' + make_interval(days => least(n * 29 % 367, 365), hours => n % 31 % 4 * 6) AS made FROM generate_series(1, 9000) n) s;
CREATE UNIQUE INDEX ON orders (id);
CREATE INDEX ON orders (created_at);
CREATE TABLE orders_reference AS TABLE orders;

CREATE TABLE patients (id int NOT NULL, sex text NOT NULL, birth_year int NOT NULL, region text NOT NULL, smoker bool NOT NULL,
  weight numeric(5,1), height float8 NOT NULL, admitted date NOT NULL);
INSERT INTO patients SELECT n, (ARRAY['f','m'])[1 + n % 2], 1930 + n * 13 % 80, (ARRAY['north','south','east','west'])[1 + n / 2 % 4], n * 7 % 10 < 3,
  CASE WHEN n % 9 > 0 THEN 45.5 + n * 17 % 60 END, 1.5 + n * 11 % 50 / 128.0, date '2024-01-01' + n * 5 % 366 FROM generate_series(1, 2000) n;
CREATE UNIQUE INDEX ON patients (id);
CREATE TABLE visits (id int NOT NULL, patient_id int NOT NULL, department text NOT NULL, visited_on date NOT NULL, cost numeric(10,2) NOT NULL, minutes int NOT NULL, urgent bool NOT NULL);
INSERT INTO visits SELECT n, 1 + n * 7 % 1900, (ARRAY['eye','heart','skin'])[1 + n % 3], date '2024-01-01' + n * 11 % 366, 20 + n * 7 % 300, 5 + n * 3 % 55, n * 3 % 10 < 4
  FROM generate_series(1, 6000) n;
CREATE TABLE patients_reference AS TABLE patients;
CREATE TABLE visits_reference AS TABLE visits;

CREATE VIEW paid_orders AS SELECT id, customer_id, product_id, status, channel, country, created_at, created_on, amount, quantity FROM orders WHERE is_paid;
CREATE VIEW order_facts AS SELECT o.country AS market, o.channel, o.status, o.created_on AS day, o.amount * o.quantity AS revenue, o.quantity AS units FROM orders o;
CREATE VIEW european_countries AS SELECT code, name FROM countries WHERE region = 'Europe';

CREATE ROLE fugu_guest LOGIN;
CREATE ROLE fugu_reader LOGIN;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO fugu_reader;
GRANT SELECT ON countries, products, tags, calendar, targets, european_countries, orders_reference, patients_reference, visits_reference TO fugu_guest;
ANALYZE;
