-- Roles for Fugu, and what they may. Run it as the owner of the tables or a superuser; it may be run again.
BEGIN;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fugu_shop_guest') THEN CREATE ROLE "fugu_shop_guest"; END IF;
END $$;
ALTER ROLE "fugu_shop_guest" LOGIN PASSWORD
  'SECRET';
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fugu_shop_reader') THEN CREATE ROLE "fugu_shop_reader"; END IF;
END $$;
ALTER ROLE "fugu_shop_reader" LOGIN PASSWORD
  'SECRET';
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fugu_shop_keeper') THEN CREATE ROLE "fugu_shop_keeper"; END IF;
END $$;
ALTER ROLE "fugu_shop_keeper" LOGIN PASSWORD
  'SECRET';

-- What lists tables is a long statement through Fugu, and takes longer to compile than to run. RESET it, if your
-- analysts' own statements gain more by it.
ALTER ROLE "fugu_shop_guest" SET jit = off;

-- Protected: the guest, as which analysts' statements run, has no right on any of these.
REVOKE ALL ON "public"."orders", "public"."order_item", "public"."payment" FROM PUBLIC, "fugu_shop_guest";
GRANT SELECT ON "public"."orders", "public"."order_item", "public"."payment"
  TO "fugu_shop_reader", "fugu_shop_keeper";

-- The keeper makes the twins, in a schema of its own.
GRANT CREATE ON DATABASE "marketplace" TO "fugu_shop_keeper";

-- Ordinary tables, which analysts read as they are. None may have a total of protected rows in it.
GRANT SELECT ON "public"."customer", "public"."product", "public"."supplier"
  TO "fugu_shop_guest", "fugu_shop_reader", "fugu_shop_keeper";
COMMIT;
