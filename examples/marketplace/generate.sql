-- Fills the tables of schema.sql with two years of made-up orders: 270,000 of them, or as many as the setting
-- marketplace.orders says, with about twice as many items. Each run on each server makes the same rows: chance comes
-- from md5 of the row's number. Rows are drawn independently of each other, which is what the policy's owner accepts.

-- A number in [0,1): the nth eighth of a hash in hexadecimal digits, n from 0 to 3.
CREATE FUNCTION pg_temp.part(hash text, n int) RETURNS float8 IMMUTABLE LANGUAGE sql AS
  $$ SELECT ('x' || substr(hash, 1 + 8 * n, 8))::bit(32)::bigint / 4294967296.0::float8 $$;

CREATE TEMP TABLE size AS
  SELECT orders, orders * 2 / 9 AS customers, date '2021-01-01' AS opened, 1461 AS days
  FROM (SELECT coalesce(nullif(current_setting('marketplace.orders', true), ''), '270000')::int AS orders) s;

-- Forty suppliers. The first has about a fifth of the orders, the others fewer and fewer.
CREATE TEMP TABLE seller AS
  SELECT no, upper(substr(first, 1, 4)) || lpad(no::text, 2, '0') AS code, first || ' ' || last AS name,
         CASE WHEN no = 1 THEN .21
              ELSE .79 / (no + 4) / (SELECT sum(1.0 / (i + 4)) FROM generate_series(2, 40) i) END AS share
  FROM generate_series(1, 40) no,
    LATERAL (SELECT ('{Northwind,Bergmann,Castell,Delphin,Eastgate,Fjord,Granit,Hansen}'::text[])
                      [1 + (no - 1) % 8] AS first,
                    ('{Traders,Supply,Goods,Works,Direct}'::text[])[1 + (no - 1) / 8] AS last) n;
INSERT INTO supplier
  SELECT code, name, ('{DE,NL,FR,PL,IT}'::char(2)[])[1 + no % 5], date '2010-01-01' + no * 97 FROM seller;

-- Thirty products each, the first of them the most popular. Prices are skewed: a few cost a hundred times the median.
CREATE TEMP TABLE article AS
  SELECT s.no AS seller, k, s.code || '-' || lpad((k * 37 % 1000)::text, 3, '0') AS sku, s.code AS supplier, category,
         round(exp(price + .8 * 1.73 * (pg_temp.part(h, 0) + pg_temp.part(h, 1) + pg_temp.part(h, 2)
           + pg_temp.part(h, 3) - 2))::numeric, 2) AS list_price
  FROM seller s, generate_series(1, 30) k, md5('article ' || no || ' ' || k) h,
    LATERAL (SELECT CASE WHEN no = 1 AND k % 3 = 1 THEN 2 ELSE 1 + (no * 3 + k * k) % 8 END AS c) c,
    LATERAL (SELECT ('{Books,Electronics,Garden,Grocery,Home,Office,Sports,Toys}'::text[])[c] AS category,
                    ('{2.7,4.6,3.4,2.2,3.6,2.9,3.7,3.1}'::float8[])[c] AS price) p;
INSERT INTO product
  SELECT sku, supplier,
         category || ' ' || ('{classic,compact,deluxe,eco,basic,pro}'::text[])[1 + k % 6] || ' ' || k, category, list_price,
         CASE WHEN pg_temp.part(md5('weighed ' || sku), 0) < .9 THEN round((list_price / 40)::numeric + .1, 3) END,
         date '2019-01-01' + (k * 61 + seller * 7) % 1400
  FROM article;

INSERT INTO customer
  SELECT md5('customer ' || i)::uuid,
         (ARRAY['DE','FR','GB','NL','ES','IT','PL','AT'])
           [1 + width_bucket(pg_temp.part(h, 0), '{.30,.50,.65,.75,.83,.90,.96}'::float8[])],
         (ARRAY['private','business',NULL])[1 + width_bucket(pg_temp.part(h, 1), '{.66,.88}'::float8[])],
         CASE WHEN pg_temp.part(h, 2) < .7 THEN 1950 + floor(pg_temp.part(h, 2) / .7 * 55) END,
         pg_temp.part(h, 3) < .35, opened + (i::bigint * days / customers)::int
  FROM size, generate_series(0, customers - 1) i, md5('customer of chance ' || i) h;

-- When orders are placed: more from year to year, most before Christmas. And whose they are.
CREATE TEMP TABLE law AS
  SELECT array_agg(upto / total ORDER BY m) AS months, (SELECT array_agg(upto::float8 ORDER BY no)
           FROM (SELECT no, sum(share) OVER (ORDER BY no) AS upto FROM seller) s) AS sellers
  FROM (SELECT m, sum(weight) OVER (ORDER BY m) AS upto, sum(weight) OVER () AS total
        FROM generate_series(0, 23) m,
          LATERAL (SELECT (1 + m * .02)
                    * ('{1,.85,.95,.95,1,.95,.9,.8,.95,1.05,1.5,1.7}'::float8[])[1 + m % 12] AS weight) w) s;

CREATE TEMP TABLE drawn AS
WITH chance AS MATERIALIZED (
  SELECT i, md5('order ' || i) AS a, md5('of order ' || i) AS b, md5('and order ' || i) AS c
  FROM size, generate_series(1, orders) i
), dated AS MATERIALIZED (
  SELECT chance.*, first + floor(extract(day FROM first + interval '1 month' - first) * pg_temp.part(a, 1))::int AS day,
         least(1 + width_bucket(pg_temp.part(a, 2), sellers), 40) AS seller
  FROM chance, law,
    LATERAL (SELECT (date '2023-01-01' + width_bucket(pg_temp.part(a, 0), months) * interval '1 month')::date AS first) f
), bought AS MATERIALIZED (
  -- A customer who had joined by that day; those who joined early buy more often.
  SELECT dated.*, floor(power(pg_temp.part(a, 3), 1.4) * customers * (day - opened) / days)::int AS customer,
         seller = 1 AS large
  FROM dated, size
)
SELECT bought.*, md5('key ' || i)::uuid AS id,
       CASE WHEN pg_temp.part(b, 0) >= .03 THEN
         day + CASE WHEN large THEN 1 ELSE 1 + floor(3 * pg_temp.part(b, 1))::int END END AS shipped,
       (CASE WHEN pg_temp.part(c, 0) < .34 THEN
          1 + width_bucket(pg_temp.part(c, 1),
                CASE WHEN large THEN '{.04,.09,.22,.55}' ELSE '{.06,.14,.32,.65}' END::float8[]) END)::smallint AS rating
FROM bought;
ANALYZE drawn, seller, article, customer;

-- Keys are taken off, and put back when the rows are there: to look all rows up at once is a tenth of the work.
CREATE TEMP TABLE keys AS
  SELECT conrelid::regclass AS of, conname AS name, contype = 'f' AS refers, pg_get_constraintdef(oid) AS key
  FROM pg_constraint
  WHERE conrelid IN ('orders'::regclass, 'order_item'::regclass, 'payment'::regclass) AND contype IN ('p', 'u', 'f');
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', of, name) FROM keys ORDER BY refers DESC, of, name \gexec

INSERT INTO orders
SELECT d.id, 'M-' || to_char(day, 'YYYY') || '-' || lpad(i::text, 7, '0'), md5('customer ' || d.customer)::uuid, s.code,
       day::timestamp AT TIME ZONE 'UTC'
         + interval '1 second' * floor(86400 * (.25 + .7 * power(pg_temp.part(b, 2), .8))),
       (ARRAY['web','app','phone'])
         [1 + width_bucket(pg_temp.part(b, 3), CASE WHEN large THEN '{.50,.97}' ELSE '{.60,.94}' END::float8[])]::sales_channel,
       CASE WHEN pg_temp.part(c, 2) < .94 THEN m.country ELSE 'BE' END,
       (ARRAY['WELCOME10','SUMMER','BLACKFRIDAY',NULL])
         [1 + width_bucket(pg_temp.part(c, 3), '{.10,.18,.30}'::float8[])],
       shipped, CASE WHEN pg_temp.part(b, 0) >= .05 THEN shipped + 1 + floor(6 * power(pg_temp.part(b, 1), 2))::int END,
       rating, CASE WHEN pg_temp.part(c, 0) < .11 THEN
         (ARRAY['broken on arrival, want a refund', 'delivery was late', 'fine, but the packaging was damaged',
           'good quality, quick delivery', 'excellent, would buy again'])[rating]
         || (ARRAY['', '; customer service was friendly', '; too expensive'])
              [1 + floor(3 * pg_temp.part(c, 1) * 5)::int % 3] END,
       jsonb_build_object('device',
                            (ARRAY['phone','desktop','tablet'])[1 + floor(3 * power(pg_temp.part(c, 3), 1.5))::int],
                          'campaign', CASE WHEN i % 7 = 0 THEN 'mail' END)
FROM drawn d JOIN seller s ON s.no = seller JOIN customer m ON m.id = md5('customer ' || d.customer)::uuid;

INSERT INTO order_item
SELECT d.id, line, a.sku,
       1 + floor(power(pg_temp.part(h, 1), 6) * 5)::int,
       round(a.list_price * (1 - .15 * (extract(month FROM day) = 11)::int), 2),
       CASE WHEN pg_temp.part(h, 2) < .18 THEN round((.05 + .3 * pg_temp.part(h, 2))::numeric, 3) END,
       CASE WHEN pg_temp.part(h, 3) < .06 THEN shipped + 5 + floor(400 * pg_temp.part(h, 3))::int END
FROM drawn d
  CROSS JOIN width_bucket(pg_temp.part(md5('basket ' || i), 0), '{.45,.70,.85,.93,.97}'::float8[]) more
  CROSS JOIN generate_series(1, 1 + more) line
  CROSS JOIN md5('item ' || i || ' ' || line) h
  JOIN article a ON a.seller = d.seller AND a.k = 1 + floor(30 * power(pg_temp.part(h, 0), 1.6))::int;

ANALYZE orders, order_item;
INSERT INTO payment (order_id, method, amount, fee, paid_at, reference)
SELECT o.id, method, amount, round(amount * rate + .25, 2),
       CASE WHEN o.shipped_on IS NOT NULL THEN
         o.placed_at + CASE WHEN method IN ('invoice', 'transfer')
           THEN interval '1 day' * (1 + floor(25 * pg_temp.part(h, 1))) ELSE interval '1 minute' END END,
       md5('payment of ' || o.id)::uuid
FROM (SELECT order_id, round(sum(quantity * unit_price * (1 - coalesce(discount, 0))), 2) AS goods
      FROM order_item GROUP BY order_id) g
  JOIN orders o ON o.id = g.order_id, md5('paid ' || o.id) h,
  LATERAL (SELECT 1 + width_bucket(pg_temp.part(h, 0), '{.50,.75,.90}'::float8[]) AS way) w,
  LATERAL (SELECT (ARRAY['card','wallet','invoice','transfer'])[way] AS method,
                  (ARRAY[.014,.019,.031,.004])[way] AS rate,
                  goods + CASE WHEN goods < 50 THEN 4.90 ELSE 0 END AS amount) p
ORDER BY o.placed_at, o.id;

SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', of, name, key) FROM keys ORDER BY refers, of, name \gexec
CREATE INDEX ON orders (placed_at);
CREATE INDEX ON orders (customer_id);
CREATE INDEX ON order_item (sku);
DROP TABLE size, seller, article, law, drawn, keys;
ANALYZE supplier, product, payment;
