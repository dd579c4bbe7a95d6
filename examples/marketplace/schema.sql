-- A marketplace: suppliers sell their products to customers, each order is one supplier's. What an order is made of and
-- how it was paid belongs to it. Nothing here counts orders elsewhere (a product's units sold, a customer's turnover):
-- such a column beside the protected tables would tell what their twin hides.
CREATE TYPE sales_channel AS ENUM ('web', 'app', 'phone');

CREATE TABLE supplier (
  code text PRIMARY KEY,                 -- a natural key
  name text NOT NULL,
  country char(2) NOT NULL,
  since date NOT NULL);
CREATE TABLE product (
  sku text PRIMARY KEY,                  -- a natural key: the supplier's code and a number
  supplier text NOT NULL REFERENCES supplier,
  title text NOT NULL,
  category text NOT NULL,
  list_price numeric(10,2) NOT NULL CHECK (list_price > 0),
  weight_kg numeric(6,3),                -- NULL: nobody has weighed it
  launched date NOT NULL);
CREATE TABLE customer (
  id uuid PRIMARY KEY,
  country char(2) NOT NULL,
  segment text CHECK (segment IN ('private', 'business')),   -- NULL: has not said
  birth_year smallint,
  newsletter boolean NOT NULL,
  joined date NOT NULL);

-- Protected, with the secret: what share of its rows is which supplier's.
CREATE TABLE orders (
  id uuid PRIMARY KEY,
  order_number text NOT NULL UNIQUE,     -- on invoices: who has one knows a row, so that the twin leaves it out
  customer_id uuid NOT NULL REFERENCES customer,
  supplier text NOT NULL REFERENCES supplier,
  placed_at timestamptz NOT NULL,
  channel sales_channel NOT NULL DEFAULT 'web',
  ship_country char(2) NOT NULL,
  coupon text,
  shipped_on date,                       -- NULL: cancelled
  delivered_on date,                     -- NULL: cancelled, or lost
  rating smallint CHECK (rating BETWEEN 1 AND 5),
  review text,
  context jsonb NOT NULL DEFAULT '{}');
COMMENT ON TABLE orders IS 'one row for each order since 2023';
COMMENT ON COLUMN orders.rating IS 'stars, one to five; most customers give none';

-- Protected with it: rows of an order.
CREATE TABLE order_item (
  order_id uuid REFERENCES orders ON DELETE CASCADE,
  line smallint,
  sku text NOT NULL REFERENCES product,
  quantity int NOT NULL CHECK (quantity > 0),
  unit_price numeric(10,2) NOT NULL,
  discount numeric(4,3),                 -- NULL: none
  returned_on date,                      -- NULL: kept
  PRIMARY KEY (order_id, line));
CREATE TABLE payment (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id uuid NOT NULL UNIQUE REFERENCES orders ON DELETE CASCADE,
  method text NOT NULL,
  amount numeric(12,2) NOT NULL,
  fee numeric(8,2) NOT NULL,
  paid_at timestamptz,                   -- NULL: not yet
  reference uuid NOT NULL UNIQUE);       -- of the payment provider
