-- from: hand-written, standard deviations of every numeric type
SELECT stddev(quantity), stddev_samp(priority), stddev_pop(id), stddev(amount), stddev_pop("Unit Price"), stddev(discount), stddev_samp(rating) FROM orders;

-- from: hand-written, variances of every numeric type
SELECT variance(quantity), var_samp(priority), var_pop(id), variance(amount), var_pop("Unit Price"), var_samp(discount), var_pop(rating) FROM orders;

-- from: hand-written, of a column of type real
-- rough
SELECT stddev(tax), var_pop(tax), corr(tax, amount), regr_slope(tax, quantity) FROM orders;

-- from: hand-written, by group
SELECT status, channel, count(*), avg(amount), stddev(amount), var_pop(quantity) FROM orders GROUP BY status, channel ORDER BY status, channel;

-- from: hand-written, correlation and covariance by group
SELECT country, corr(amount, quantity), covar_pop(amount, discount), covar_samp(rating, amount) FROM orders GROUP BY country ORDER BY country;

-- from: hand-written, every function of regression, where either argument can be NULL
SELECT regr_count(discount, rating), regr_avgx(discount, rating), regr_avgy(discount, rating), regr_sxx(discount, rating), regr_syy(discount, rating), regr_sxy(discount, rating),
  regr_slope(discount, rating), regr_intercept(discount, rating), regr_r2(discount, rating), corr(discount, rating), covar_pop(discount, rating), covar_samp(discount, rating) FROM orders;

-- from: hand-written, with FILTER
SELECT stddev(amount) FILTER (WHERE status = 'new'), corr(amount, quantity) FILTER (WHERE is_paid AND quantity > 2), regr_count(rating, amount) FILTER (WHERE NOT is_paid) FROM orders;

-- from: hand-written, with parameters
-- $1: shipped
-- $2: 3
SELECT channel, stddev_pop(amount), regr_slope(amount, quantity + $2::int) FROM orders WHERE status = $1 GROUP BY channel ORDER BY channel;

-- from: hand-written, of expressions
SELECT var_samp(amount * quantity), stddev(amount / quantity), corr(amount - tax, sqrt(quantity)), regr_intercept(abs(priority - 2), extract(month FROM created_on)) FROM orders;

-- from: hand-written, in HAVING and ORDER BY
SELECT country FROM orders GROUP BY country HAVING stddev(amount) > 10 ORDER BY var_pop(amount) DESC, country LIMIT 3;

-- from: hand-written, in expressions above the cut
SELECT segment, round(stddev(amount), 3), avg(amount) + 2 * stddev(amount) AS upper, corr(amount, quantity) ^ 2 < 0.5 FROM orders GROUP BY segment ORDER BY segment;

-- from: hand-written, in a subquery
SELECT max(s), min(r) FROM (SELECT status, stddev_pop(quantity) s, regr_r2(amount, quantity) r FROM orders GROUP BY status) t;

-- from: hand-written, of grouping sets
SELECT status, segment, grouping(status, segment), var_samp(amount), covar_pop(amount, quantity) FROM orders GROUP BY ROLLUP (status, segment) ORDER BY 3, 1, 2;

-- from: hand-written, of a linked table
SELECT department, stddev(cost), variance(minutes), corr(cost, minutes), regr_avgx(cost, minutes), regr_count(cost, minutes) FROM visits GROUP BY department ORDER BY department;

-- from: hand-written, of joined tables
SELECT p.sex, count(*), stddev_pop(v.cost), regr_slope(v.cost, p.weight), regr_intercept(v.cost, p.weight), covar_samp(v.minutes, p.birth_year - 1970), corr(v.cost, p.height), regr_r2(v.cost, p.height), regr_sxy(v.cost, p.height)
FROM patients p JOIN visits v ON v.patient_id = p.id GROUP BY p.sex ORDER BY p.sex;

-- from: hand-written, with an ordinary table
SELECT c.region, stddev(o.amount), covar_pop(o.amount, c.population) FROM orders o JOIN countries c ON c.code = o.country WHERE c.region = 'Europe' GROUP BY c.region;

-- from: hand-written, of what is far from zero
SELECT stddev(birth_year), regr_slope(height, birth_year), regr_intercept(height, birth_year), corr(height, birth_year) FROM patients;

-- from: hand-written, of literals
SELECT regr_avgx(amount, 2), regr_avgy('3', quantity), regr_count(1, rating) FROM orders;
