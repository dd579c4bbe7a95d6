-- Thirty statements as an analyst of the marketplace would write them. They are PostgreSQL's SQL and nothing else:
-- through Fugu they are answered from the twin, as superuser from the true tables. The number in brackets says how
-- many of the first columns are what a row is about; the others are compared by test/integration/market, which prints
-- how far off they are.

-- 1. Revenue and orders by month [1]
SELECT date_trunc('month', placed_at) AS month, sum(amount), count(*)
FROM orders JOIN payment ON order_id = orders.id GROUP BY month ORDER BY month;

-- 2. Order value by channel: mean and median [1]
SELECT channel, avg(amount), percentile_cont(0.5) WITHIN GROUP (ORDER BY amount)
FROM orders JOIN payment ON order_id = orders.id GROUP BY channel ORDER BY channel;

-- 3. Percentiles of the order value [1]
SELECT p, percentile_cont(p) WITHIN GROUP (ORDER BY amount)
FROM payment, unnest(ARRAY[0.1, 0.25, 0.5, 0.75, 0.9, 0.99]) AS p GROUP BY p ORDER BY p;

-- 4. The twenty products with the most revenue [1]
SELECT sku, sum(quantity * unit_price * (1 - coalesce(discount, 0))) AS revenue
FROM order_item GROUP BY sku ORDER BY revenue DESC LIMIT 20;

-- 5. Revenue by category and quarter [2]
SELECT category, date_trunc('quarter', placed_at) AS quarter, sum(quantity * unit_price) AS revenue
FROM orders JOIN order_item ON order_id = orders.id JOIN product USING (sku)
GROUP BY category, quarter ORDER BY category, quarter;

-- 6. How much of a quarter's revenue the dearest tenth of its orders bring, by a window [1]
SELECT quarter, sum(amount) FILTER (WHERE tenth = 1) / sum(amount) AS share
FROM (SELECT date_trunc('quarter', placed_at) AS quarter, amount,
             ntile(10) OVER (PARTITION BY date_trunc('quarter', placed_at) ORDER BY amount DESC) AS tenth
      FROM orders JOIN payment ON order_id = orders.id) t
GROUP BY quarter ORDER BY quarter;

-- 7. Running revenue [1]
SELECT month, sum(revenue) OVER (ORDER BY month) AS so_far
FROM (SELECT date_trunc('month', placed_at) AS month, sum(amount) AS revenue
      FROM orders JOIN payment ON order_id = orders.id GROUP BY 1) m ORDER BY month;

-- 8. Growth against the same month of the year before [1]
WITH monthly AS (
  SELECT date_trunc('month', placed_at) AS month, sum(amount) AS revenue
  FROM orders JOIN payment ON order_id = orders.id GROUP BY 1)
SELECT month, revenue / lag(revenue, 12) OVER (ORDER BY month) AS growth FROM monthly ORDER BY month OFFSET 12;

-- 9. Orders and stars by country [1]
SELECT ship_country, count(*), avg(rating) FROM orders GROUP BY ship_country ORDER BY count(*) DESC;

-- 10. Basket sizes [1]
SELECT lines, count(*) FROM (SELECT order_id, count(*) AS lines FROM order_item GROUP BY order_id) b
GROUP BY lines ORDER BY lines;

-- 11. Pieces in an order, by channel [1]
SELECT channel, avg(pieces), max(pieces)
FROM orders, LATERAL (SELECT sum(quantity) AS pieces FROM order_item WHERE order_id = orders.id) q
GROUP BY channel ORDER BY channel;

-- 12. Coupons, also none [1]
SELECT coalesce(coupon, '(none)') AS coupon, count(*), avg(amount)
FROM orders JOIN payment ON order_id = orders.id GROUP BY 1 ORDER BY 1;

-- 13. Who rates, by segment of the customer [1]
SELECT coalesce(segment, '(has not said)') AS segment, avg((rating IS NOT NULL)::int), avg(rating), stddev(rating)
FROM orders JOIN customer c ON c.id = customer_id GROUP BY 1 ORDER BY 1;

-- 14. Days on the way, by country [1]
SELECT ship_country, avg(delivered_on - shipped_on),
       percentile_disc(0.9) WITHIN GROUP (ORDER BY delivered_on - shipped_on)
FROM orders WHERE delivered_on IS NOT NULL GROUP BY ship_country ORDER BY ship_country;

-- 15. Cancelled and lost orders by year [1]
SELECT extract(year FROM placed_at) AS year, count(*) FILTER (WHERE shipped_on IS NULL) AS cancelled,
       count(*) FILTER (WHERE shipped_on IS NOT NULL AND delivered_on IS NULL) AS lost
FROM orders GROUP BY year ORDER BY year;

-- 16. What reviews complain of, by text search [1]
SELECT extract(year FROM placed_at) AS year, count(*), avg(rating)
FROM orders WHERE to_tsvector('english', review) @@ to_tsquery('english', 'late | damaged | broken')
GROUP BY year ORDER BY year;

-- 17. The words of reviews [1]
SELECT word, count(*) FROM orders, regexp_split_to_table(lower(review), '\W+') AS word
WHERE length(word) > 4 GROUP BY word ORDER BY count(*) DESC, word LIMIT 12;

-- 18. Return rates by category [1]
SELECT category, avg((returned_on IS NOT NULL)::int) AS returned, avg(returned_on - shipped_on) AS after_days
FROM orders JOIN order_item ON order_id = orders.id JOIN product USING (sku) GROUP BY category ORDER BY category;

-- 19. What discounts cost, by category [1]
SELECT category, sum(quantity * unit_price * discount) AS given, avg(coalesce(discount, 0)), avg(discount)
FROM order_item JOIN product USING (sku) GROUP BY category ORDER BY category;

-- 20. When people order: day of the week and part of the day [2]
SELECT extract(isodow FROM placed_at) AS day,
       (extract(hour FROM placed_at AT TIME ZONE 'UTC')::int / 4) AS part, count(*)
FROM orders GROUP BY day, part ORDER BY day, part;

-- 21. What is not paid, by method [1]
SELECT method, sum(amount) FILTER (WHERE paid_at IS NULL) AS unpaid, avg((paid_at IS NULL)::int)
FROM payment GROUP BY method ORDER BY method;

-- 22. How long payments take, and what they cost [1]
SELECT method, extract(epoch FROM avg(paid_at - placed_at)) / 86400 AS days, sum(fee) / sum(amount) AS rate
FROM orders JOIN payment ON order_id = orders.id GROUP BY method ORDER BY method;

-- 23. Revenue of customers by the year they joined in [2]
SELECT extract(year FROM joined) AS joined, extract(year FROM placed_at) AS year, sum(amount) AS revenue
FROM customer c JOIN orders ON customer_id = c.id JOIN payment ON order_id = orders.id
GROUP BY 1, 2 ORDER BY 1, 2;

-- 24. Customers' ages [1]
WITH aged AS (SELECT id, (2024 - birth_year) / 10 * 10 AS decade FROM customer)
SELECT coalesce(decade::text, '(has not said)') AS decade, count(*), avg(amount)
FROM aged JOIN orders ON customer_id = aged.id JOIN payment ON order_id = orders.id GROUP BY 1 ORDER BY 1;

-- 25. Orders by value band, each with its stars [1]
SELECT low, n, stars
FROM (VALUES (0, 25), (25, 50), (50, 100), (100, 250), (250, 500), (500, 1000)) AS band (low, high),
  LATERAL (SELECT count(*) AS n, avg(rating) AS stars FROM orders JOIN payment ON order_id = orders.id
           WHERE amount >= low AND amount < high) b ORDER BY low;

-- 26. The dearest and the cheapest article sold, by category [1]
SELECT category, max(unit_price), min(unit_price)
FROM order_item JOIN product USING (sku) GROUP BY category ORDER BY category;

-- 27. Devices and campaigns [2]
SELECT context ->> 'device' AS device, context ->> 'campaign' AS campaign, count(*), avg(amount)
FROM orders JOIN payment ON order_id = orders.id GROUP BY 1, 2 ORDER BY 1, 2;

-- 28. How many customers order in each quarter [1]
SELECT date_trunc('quarter', placed_at) AS quarter, count(DISTINCT customer_id)
FROM orders GROUP BY quarter ORDER BY quarter;

-- 29. Retention: who ordered in the first quarter of 2023, and again in later ones [1]
WITH first AS (SELECT DISTINCT customer_id FROM orders WHERE placed_at < '2023-04-01')
SELECT date_trunc('quarter', placed_at) AS quarter,
       count(DISTINCT customer_id)::float8 / (SELECT count(*) FROM first) AS back
FROM orders JOIN first USING (customer_id) WHERE placed_at >= '2023-04-01' GROUP BY quarter ORDER BY quarter;

-- 30. The suppliers' shares of revenue, the secret among them [1]
SELECT CASE WHEN supplier = 'NORT01' THEN 'Northwind' ELSE 'all others' END AS whose,
       sum(amount) / sum(sum(amount)) OVER () AS share
FROM orders JOIN payment ON order_id = orders.id GROUP BY 1 ORDER BY 1;
