package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// foreignHands finds a role that could change a ledger in PostgreSQL besides the session's own and superusers: the
// owner of its schema, or of something in it, or who has been granted to make something there or to write. A schema of
// the name may have been there before the ledger, made by whoever wants to own it: its owner can drop what others put
// into it, and the ledger's statements find that owner's functions and operators in it.
const foreignHands = `WITH s AS (SELECT n.oid, n.nspowner, n.nspacl FROM pg_namespace n WHERE n.nspname = $1),
  hands AS (
    SELECT nspowner AS role FROM s
    UNION ALL SELECT a.grantee FROM s, aclexplode(s.nspacl) a WHERE a.privilege_type = 'CREATE'
    UNION ALL SELECT c.relowner FROM s JOIN pg_class c ON c.relnamespace = s.oid
    UNION ALL SELECT a.grantee FROM s JOIN pg_class c ON c.relnamespace = s.oid, aclexplode(c.relacl) a
      WHERE a.privilege_type NOT IN ('SELECT', 'USAGE')
    UNION ALL SELECT p.proowner FROM s JOIN pg_proc p ON p.pronamespace = s.oid
    UNION ALL SELECT o.oprowner FROM s JOIN pg_operator o ON o.oprnamespace = s.oid
    UNION ALL SELECT t.typowner FROM s JOIN pg_type t ON t.typnamespace = s.oid)
  SELECT coalesce(r.rolname::text, 'PUBLIC') FROM hands LEFT JOIN pg_roles r ON r.oid = hands.role
  WHERE r.rolname IS DISTINCT FROM current_user AND r.rolsuper IS NOT TRUE ORDER BY 1 LIMIT 1`

// inOwnHands refuses a schema that others than the ledger's role can change.
func inOwnHands(ctx context.Context, tx *sql.Tx) error {
	var role string
	err := tx.QueryRowContext(ctx, foreignHands, postgresSchema).Scan(&role)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("asking whose the schema %s is: %w", postgresSchema, err)
	}
	return fmt.Errorf("the role %q can change the schema %s, or what is in it, and with that what was charged: give "+
		"both to the ledger's own role and revoke other rights; if %[1]q made the schema, it is no ledger: drop it",
		role, postgresSchema)
}
