-- A database for statements whose values no secret moves, but whose covariances it changes. Each row of the reference has a
-- mirror image in its class, a and b exchanged: whatever g is, as many rows of each class have g(a) < g(b) as the other way round. Of the
-- table, noise knows the policy's number of rows alone. The numbers are of a type whose sums Fugu need not work out in numeric,
-- which took the server most of its time here.
CREATE TABLE customer (id int, income text, region text, mid text, a1 int, a2 int, a3 int, a4 int, a5 int, a6 int,
  b1 int, b2 int, b3 int, b4 int, b5 int, b6 int);
CREATE TABLE customer_reference (LIKE customer);
GRANT SELECT ON customer, customer_reference TO fugu_reader;
GRANT SELECT ON customer_reference TO fugu_guest;
CREATE FUNCTION scattered(id int, what text) RETURNS int LANGUAGE sql AS $$ SELECT ('x' || substr(md5(id || what), 1, 6))::bit(24)::int $$;
CREATE FUNCTION people(many int, high int) RETURNS SETOF customer LANGUAGE sql AS $$
  SELECT i, CASE WHEN i < high THEN 'high' ELSE 'low' END, 'north', 'k', scattered(i, 'a1'), scattered(i, 'a2'), scattered(i, 'a3'), scattered(i, 'a4'),
    scattered(i, 'a5'), scattered(i, 'a6'), scattered(i, 'b1'), scattered(i, 'b2'), scattered(i, 'b3'), scattered(i, 'b4'), scattered(i, 'b5'), scattered(i, 'b6')
  FROM generate_series(0, many - 1) i
$$;
INSERT INTO customer SELECT * FROM people(200, 40);
INSERT INTO customer_reference SELECT * FROM people(2000, 500);
INSERT INTO customer_reference SELECT id + 2000, income, region, mid, b1, b2, b3, b4, b5, b6, a1, a2, a3, a4, a5, a6 FROM customer_reference;
