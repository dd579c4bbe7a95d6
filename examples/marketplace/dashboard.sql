-- A dashboard of twelve tiles. What each would cost and how far it would be off, with noise and on a twin:
--     fugu preview -c fugu-noise.yaml -workload dashboard.sql

-- Orders by channel
SELECT channel, count(*) FROM orders GROUP BY channel;

-- Orders by month
SELECT date_trunc('month', placed_at, 'UTC') AS month, count(*) FROM orders GROUP BY month;

-- Orders by country
SELECT ship_country, count(*) FROM orders GROUP BY ship_country;

-- Stars
SELECT avg(rating) FROM orders;

-- Stars by channel
SELECT channel, avg(rating) FROM orders GROUP BY channel;

-- How many are pleased
SELECT channel, avg((rating >= 4)::int) AS pleased FROM orders GROUP BY channel;

-- Coupons
SELECT coupon, count(*) FROM orders GROUP BY coupon;

-- Revenue
SELECT sum(amount) FROM payment;

-- Revenue by way of payment
SELECT method, sum(amount) FROM payment GROUP BY method;

-- Complaints about delay
SELECT count(*) FROM orders WHERE review ILIKE '%late%';

-- The dearest payment
SELECT max(amount) FROM payment;

-- Suppliers
SELECT count(*) FROM supplier;
