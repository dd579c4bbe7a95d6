-- The roles that fugu.yaml names, and what each may do with the tables of schema.sql. For a policy of one's own, fugu
-- init writes its own roles and grants: leave these out.
CREATE ROLE fugu_guest LOGIN;    -- no right on the protected tables
CREATE ROLE fugu_reader LOGIN;
CREATE ROLE fugu_keeper LOGIN;   -- builds the twin, and owns the schema fugu_twin
GRANT SELECT ON supplier, product, customer TO fugu_guest, fugu_reader, fugu_keeper;
GRANT SELECT ON orders, order_item, payment TO fugu_reader, fugu_keeper;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO fugu_keeper', current_database()); END $$;
