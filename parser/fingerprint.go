package parser

import pg "github.com/pganalyze/pg_query_go/v6"

// Fingerprint is a digest of a text's shape, the same for all values of its literals and for all ways of writing it: 16
// hexadecimal digits, libpg_query's fingerprint. It is empty where there is none without the literals: of a text that
// cannot be parsed, and of statements whose strings libpg_query takes for names (COMMENT, passwords, files and others
// that are no queries).
func Fingerprint(sql string) string {
	if guard(sql) != nil {
		return ""
	}
	parsed, err := pg.Parse(sql)
	if err != nil {
		return ""
	}

	copies := false
	for _, s := range parsed.Stmts {
		if !shaped(s.Stmt) {
			return ""
		}
		if c := s.Stmt.GetCopyStmt(); c != nil { // its options hold strings; the query is what counts
			s.Stmt, copies = c.Query, true
		}
	}
	if copies {
		if sql, err = pg.Deparse(parsed); err != nil {
			return ""
		}
	}

	// What is left has no value of a literal in it.
	f, err := pg.Fingerprint(sql)
	if err != nil {
		return ""
	}
	return f
}

// shaped reports whether all literals of a statement are constants in its tree, which the fingerprint leaves out.
func shaped(n *pg.Node) bool {
	switch s := n.GetNode().(type) {
	case *pg.Node_SelectStmt, *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt,
		*pg.Node_ExecuteStmt, *pg.Node_DoStmt, *pg.Node_CreateFunctionStmt, *pg.Node_VariableSetStmt, *pg.Node_ViewStmt:
		return true
	case *pg.Node_CopyStmt:
		return s.CopyStmt.Query != nil && shaped(s.CopyStmt.Query)
	case *pg.Node_ExplainStmt:
		return shaped(s.ExplainStmt.Query)
	case *pg.Node_PrepareStmt:
		return shaped(s.PrepareStmt.Query)
	case *pg.Node_DeclareCursorStmt:
		return shaped(s.DeclareCursorStmt.Query)
	case *pg.Node_CreateTableAsStmt:
		return shaped(s.CreateTableAsStmt.Query)
	case *pg.Node_TransactionStmt:
		return s.TransactionStmt.Gid == "" // of PREPARE TRANSACTION, a string
	}
	return false
}
