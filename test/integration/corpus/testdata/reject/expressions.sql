-- from: functions that wait
SELECT count(*) FROM orders WHERE pg_sleep(1) IS NULL;

-- from: functions that wait
SELECT count(*) FROM orders WHERE pg_sleep_for('1 s') IS NULL;

-- from: functions that change state
SELECT count(*) FROM orders WHERE nextval('x') > 0;

-- from: functions that change state
SELECT count(*) FROM orders WHERE set_config('fugu.x', note, false) = '';

-- from: functions that change state
SELECT sum(pg_advisory_lock(id)::text::int) FROM orders;

-- from: functions that read elsewhere
SELECT count(*) FROM orders WHERE note = pg_read_file('/etc/passwd');

-- from: functions that read elsewhere
SELECT count(*) FROM orders WHERE note = current_setting('data_directory');

-- from: functions that run text
SELECT count(*) FROM orders WHERE query_to_xml('SELECT 1', true, false, '') IS NOT NULL;

-- from: random numbers
SELECT count(*) FROM orders WHERE random() < 0.5;

-- from: random numbers
SELECT sum(amount * random()) FROM orders;

-- from: the clock
SELECT count(*) FROM orders WHERE created_at < clock_timestamp();

-- from: the session
SELECT count(*) FROM orders WHERE note = current_user;

-- from: the session
SELECT count(*) FROM orders WHERE note = session_user::text;

-- from: the session
SELECT count(*) FROM orders WHERE pg_backend_pid() > 0;

-- from: a function of one's own
CREATE FUNCTION pg_temp.f(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT sum(pg_temp.f(quantity)) FROM orders;

-- from: a function of one's own with a name of PostgreSQL's
SELECT sum(public.abs(quantity)) FROM orders;

-- from: a function that is not there
SELECT sum(frobnicate(quantity)) FROM orders;

-- from: a set-returning function
SELECT count(*) FROM orders WHERE quantity = generate_series(1, 3);

-- from: a set-returning function in an aggregate
SELECT sum(unnest(ARRAY[quantity, 1])) FROM orders;

-- from: an operator of one's own
SELECT count(*) FROM orders WHERE quantity OPERATOR(public.===) 3;

-- from: operators of other types
SELECT count(*) FROM orders WHERE quantity::text::jsonb @> '1';

-- from: operators of other types
SELECT count(*) FROM orders WHERE quantity & 1 = 1;

-- from: text search
SELECT count(*) FROM orders WHERE to_tsvector(note) @@ to_tsquery('call');

-- from: JSON
SELECT count(*) FROM orders WHERE (note::json ->> 'a') = 'b';

-- from: XML
SELECT count(*) FROM orders WHERE xmlparse(CONTENT note) IS NOT NULL;

-- from: arrays of columns
SELECT count(*) FROM orders WHERE (ARRAY[quantity, priority])[1] = 2;

-- from: ranges
SELECT count(*) FROM orders WHERE daterange(created_on, NULL) @> date '2024-05-01';

-- from: casts to types that are not listed
SELECT count(*) FROM orders WHERE status::regclass IS NULL;

-- from: casts to types that are not listed
SELECT count(*) FROM orders WHERE note::bytea = '';

-- from: casts to types that are not listed
SELECT count(*) FROM orders WHERE note::public.thing IS NULL;

-- from: a collation
SELECT count(*) FROM orders WHERE note COLLATE "C" < 'm';

-- from: system columns
SELECT count(*) FROM orders WHERE ctid = '(0,1)';

-- from: system columns
SELECT count(xmin) FROM orders;

-- from: system columns
SELECT sum(tableoid::int8) FROM orders;

-- from: system columns
SELECT ctid FROM orders;

-- from: a correlated subquery over the same table
SELECT count(*) FROM orders o WHERE amount > (SELECT avg(amount) FROM orders i WHERE i.country = o.country);

-- from: a subquery over rows
SELECT count(*) FROM orders WHERE id = (SELECT id FROM orders LIMIT 1);

-- from: a subquery with a function that waits
SELECT count(*) FROM orders WHERE quantity = (SELECT 1 FROM pg_sleep(1));

-- from: an aggregate in a condition of a join
SELECT count(*) FROM orders o JOIN products p ON p.id = max(o.product_id);

-- from: comparison of incomparable types
SELECT count(*) FROM orders WHERE quantity = 'x';

-- from: comparison of incomparable types
SELECT count(*) FROM orders WHERE created_on > 5;

-- from: a literal that is no date
SELECT count(*) FROM orders WHERE created_on = 'yesterday morning';

-- from: a condition that is not true or false
SELECT count(*) FROM orders WHERE quantity;

-- from: bit strings
SELECT count(*) FROM orders WHERE quantity::bit(3) = B'101';

-- from: an operator without an operand
SELECT count(*) FROM orders WHERE quantity + 1 + ;
