-- Roles for Fugu, and what they may. Run it as the owner of the tables or a superuser; it may be run again.
BEGIN;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fugu_noisy_guest') THEN CREATE ROLE "fugu_noisy_guest"; END IF;
END $$;
ALTER ROLE "fugu_noisy_guest" LOGIN PASSWORD
  'SECRET';
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fugu_noisy_reader') THEN CREATE ROLE "fugu_noisy_reader"; END IF;
END $$;
ALTER ROLE "fugu_noisy_reader" LOGIN PASSWORD
  'SECRET';

-- What lists tables is a long statement through Fugu, and takes longer to compile than to run. RESET it, if your
-- analysts' own statements gain more by it.
ALTER ROLE "fugu_noisy_guest" SET jit = off;

-- Protected: the guest, as which analysts' statements run, has no right on any of these.
REVOKE ALL ON "public"."orders" FROM PUBLIC, "fugu_noisy_guest";
GRANT SELECT ON "public"."orders"
  TO "fugu_noisy_reader";
REVOKE ALL ON "public"."order_item" FROM PUBLIC, "fugu_noisy_guest"; -- its rows show which protected rows there are
REVOKE ALL ON "public"."payment" FROM PUBLIC, "fugu_noisy_guest"; -- its rows show which protected rows there are

-- Public or held-out rows, by which the noise is worked out.
GRANT SELECT ON "public"."before" TO "fugu_noisy_reader";

-- Ordinary tables, which analysts read as they are. None may have a total of protected rows in it.
GRANT SELECT ON "public"."customer", "public"."supplier"
  TO "fugu_noisy_guest", "fugu_noisy_reader";
COMMIT;
