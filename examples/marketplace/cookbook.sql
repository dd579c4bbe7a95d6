-- Statements that analysts and BI tools ask all day, for docs/cookbook.md: test/integration/cookbook asks each of the
-- twin, with noise, and of the true tables, and writes the page. A title says how many of the first columns are what a
-- row is about, and by how much the twin is off at most, in the median of the cells; a note is shown below. What is
-- refused with noise is followed by what to write instead, where there is something.

-- How many rows [0; 1%]
-- Note: Everybody may know it: it is `rows` of the policy, exact and free either way.
SELECT count(*) FROM orders;

-- A total over a linked table [0; 5%]
SELECT sum(amount) FROM payment;

-- An average [0; 2%]
SELECT avg(rating) FROM orders;

-- Counts by a column [1; 5%]
SELECT channel, count(*) FROM orders GROUP BY channel ORDER BY channel;

-- Shares [1; 5%]
SELECT ship_country, count(*) / sum(count(*)) OVER () AS share FROM orders GROUP BY ship_country ORDER BY ship_country;

-- A rate: how many of them [1; 5%]
SELECT channel, avg((rating >= 4)::int) AS pleased FROM orders GROUP BY channel ORDER BY channel;

-- By month [1; 5%]
SELECT date_trunc('month', placed_at, 'UTC') AS month, count(*) FROM orders GROUP BY month ORDER BY month;

-- Revenue by month, over a join [1; 5%]
SELECT date_trunc('month', placed_at, 'UTC') AS month, sum(amount) AS revenue
FROM orders JOIN payment ON order_id = orders.id GROUP BY month ORDER BY month;

-- By day, of one week [1; 20%]
SELECT date_trunc('day', placed_at, 'UTC') AS day, count(*) FROM orders
WHERE placed_at >= '2024-11-04' AND placed_at < '2024-11-11' GROUP BY day ORDER BY day;
-- With noise:
SELECT date_trunc('month', placed_at, 'UTC') AS month, count(*) FROM orders
WHERE placed_at >= '2024-11-01' AND placed_at < '2024-12-01' GROUP BY month ORDER BY month;

-- A pivot by FILTER [1; 5%]
SELECT ship_country, count(*) FILTER (WHERE channel = 'web') AS web, count(*) FILTER (WHERE channel = 'app') AS app,
       count(*) FILTER (WHERE channel = 'phone') AS phone
FROM orders GROUP BY ship_country ORDER BY ship_country;

-- Subtotals [2; 5%]
SELECT channel, ship_country, count(*) FROM orders GROUP BY ROLLUP (channel, ship_country) ORDER BY 1, 2;

-- NULL as a group of its own [1; 5%]
SELECT coalesce(coupon, '(none)') AS coupon, count(*) FROM orders GROUP BY 1 ORDER BY 1;

-- How much is missing [0; 5%]
SELECT count(*) - count(review) AS without_review, count(*) - count(delivered_on) AS not_delivered FROM orders;

-- Groups above a threshold [1; 5%]
SELECT ship_country, count(*) FROM orders GROUP BY ship_country HAVING count(*) > 5000 ORDER BY ship_country;

-- The three largest groups [1; 5%]
SELECT ship_country, count(*) AS n FROM orders GROUP BY ship_country ORDER BY n DESC LIMIT 3;

-- The twenty best-selling articles [1; 30%]
-- Note: A twin tells the articles of the secret supplier with the noise that is on its share.
-- Note: With noise only what is declared is a group; of an item that is its number of pieces.
SELECT sku, count(*) AS n FROM order_item GROUP BY sku ORDER BY n DESC LIMIT 20;
-- With noise:
SELECT quantity, count(*) AS n FROM order_item GROUP BY quantity ORDER BY quantity;

-- A median by group [1; 5%]
-- Note: With noise percentiles are dear, as few values as days have most of all: compare averages instead.
SELECT channel, percentile_cont(0.5) WITHIN GROUP (ORDER BY delivered_on - shipped_on) AS days
FROM orders GROUP BY channel ORDER BY channel;

-- Least and greatest [0]
-- Note: A twin has the extremes of the rows that were taken, which single rows decide.
-- Note: With noise, ask how many are beyond a threshold.
SELECT min(amount), max(amount) FROM payment;
-- With noise:
SELECT count(*) FILTER (WHERE amount > 500) AS above_500 FROM payment;

-- A histogram of amounts [1; 5%]
SELECT width_bucket(amount, 0, 500, 5) AS band, count(*) FROM payment GROUP BY band ORDER BY band;

-- Spread and correlation [0; 5%]
SELECT stddev(amount), corr(amount, fee) FROM payment;

-- Different customers [0; 15%]
-- Note: A twin has too few of what nearly every row has for its own: rows stand several times in place of others.
SELECT count(DISTINCT customer_id) FROM orders;

-- A funnel: placed, shipped, delivered, rated [0; 5%]
SELECT count(*) AS placed, count(shipped_on) AS shipped, count(delivered_on) AS delivered,
       count(*) FILTER (WHERE delivered_on IS NOT NULL AND rating IS NOT NULL) AS rated FROM orders;

-- Cohorts: orders by the year in which the customer joined [1; 5%]
-- Note: With noise it is dear: the join could say anything of 9,010 customers.
-- Note: Copy the year into orders and its reference, declare its values, and it is a count by a column.
SELECT extract(year FROM joined) AS cohort, count(*) FROM orders JOIN customer c ON c.id = customer_id
GROUP BY cohort ORDER BY cohort;

-- Retention: customers of one quarter who come back in the next [0; 50%]
-- Note: A twin has too few different customers, for the same reason. With noise nothing says who comes back.
SELECT count(DISTINCT a.customer_id) FROM orders a JOIN orders b USING (customer_id)
WHERE a.placed_at < '2024-04-01' AND a.placed_at >= '2024-01-01'
  AND b.placed_at < '2024-07-01' AND b.placed_at >= '2024-04-01';

-- A moving average of three months [1; 5%]
SELECT month, avg(n) OVER (ORDER BY month ROWS 2 PRECEDING) AS moving
FROM (SELECT date_trunc('month', placed_at, 'UTC') AS month, count(*) AS n FROM orders GROUP BY 1) m ORDER BY month;

-- So far: a running total [1; 5%]
SELECT month, sum(n) OVER (ORDER BY month) AS so_far
FROM (SELECT date_trunc('month', placed_at, 'UTC') AS month, count(*) AS n FROM orders GROUP BY 1) m ORDER BY month;

-- Against the same month of the year before [1; 5%]
WITH monthly AS (SELECT date_trunc('month', placed_at, 'UTC') AS month, count(*) AS n FROM orders GROUP BY 1)
SELECT month, n::float8 / lag(n, 12) OVER (ORDER BY month) AS growth FROM monthly ORDER BY month OFFSET 12;

-- The latest order of each country: a window over rows [1; 5%]
SELECT ship_country, day FROM (
  SELECT ship_country, placed_at::date AS day,
         row_number() OVER (PARTITION BY ship_country ORDER BY placed_at DESC) AS k
  FROM orders) o WHERE k = 1 ORDER BY ship_country;

-- A dimension: revenue by category [1; 10%]
-- Note: With noise there is nothing left: the join could say anything of 1,200 articles, as `fugu check` notes.
-- Note: Copy the category into order_item and its reference, and declare its values.
SELECT category, sum(quantity * unit_price) AS revenue
FROM order_item JOIN product USING (sku) GROUP BY category ORDER BY category;

-- What reviews say, by ILIKE [0; 15%]
SELECT count(*) FROM orders WHERE review ILIKE '%late%';

-- By a key in JSON [1; 5%]
-- Note: With noise make the field a column of its own, in the reference too, and declare its values.
SELECT context->>'device' AS device, count(*) FROM orders GROUP BY device ORDER BY device;

-- Rows [1]
-- Note: A twin shows its own rows, with new keys: whatever is computed from them is as good as the rest of this page.
SELECT id, placed_at, channel FROM orders ORDER BY placed_at LIMIT 10;

-- The secret itself [0; 20%]
-- Note: This is what is hidden. Either answer is off by what hides it, whoever asks, and however often.
SELECT avg((supplier = 'NORT01')::int) AS share FROM orders;
