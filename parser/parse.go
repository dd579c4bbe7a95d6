package parser

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/shadow"
)

// Parse reads sql, which may hold several statements. What names a protected table and is not understood is an error
// with a position, of all statements the first.
func Parse(sql string, catalog Catalog) ([]*Statement, error) {
	if err := guard(sql); err != nil {
		return nil, err
	}
	parsed, err := pg.Parse(sql)
	if err != nil {
		return nil, syntaxError(sql, err)
	}

	src := newSource(sql)
	out := make([]*Statement, 0, len(parsed.Stmts))
	at, characters := 0, 0 // of the statement before

	// A statement's place is found from that of the one before, so that a long text is gone through once.
	for _, raw := range parsed.Stmts {
		s := &Statement{Text: textOf(sql, raw), root: raw, version: parsed.Version, src: src}
		s.place(at, characters)
		at, characters = int(raw.StmtLocation), s.Start

		if err := s.analyse(src, catalog); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// textOf is what a statement of a text is: of the last one the parser gives no length.
func textOf(sql string, raw *pg.RawStmt) string {
	if raw.StmtLen == 0 {
		return sql[raw.StmtLocation:]
	}
	return sql[raw.StmtLocation : raw.StmtLocation+raw.StmtLen]
}

// place notes where the statement stands in the text. at is an offset before it, behind that number of characters.
func (s *Statement) place(at, characters int) {
	location := int(s.root.StmtLocation)
	s.Start = characters + charPosition(s.src.sql[at:], location-at) - 1
	begin := beginning(s.src.sql, location)
	s.begin = int32(begin)
	s.first = s.Start + charPosition(s.src.sql[location:], begin-location)
}

func (s *Statement) analyse(src *source, catalog Catalog) error {
	a := &analysis{src: src, relations: &relations{catalog: catalog, target: target(s.root.Stmt)}, stmt: s,
		taken: map[*pg.RangeVar]bool{}}

	// Settings name no relation.
	if set := s.root.Stmt.GetVariableSetStmt(); set != nil {
		s.Setting = setting(src, s.root, set)
		return nil
	}
	if show := s.root.Stmt.GetVariableShowStmt(); show != nil {
		s.Show, _ = ownSetting(show.Name)
		return nil
	}

	if err := a.ofThisDatabase(); err != nil {
		return err
	}

	// The order matters: a formula names tables, masks look at names as the client wrote them, and what is then left
	// of protected names is for the cut.
	if err := a.spellOut(); err != nil {
		return err
	}
	if err := a.mask(); err != nil {
		return err
	}
	if err := a.twins(); err != nil {
		return err
	}
	if err := a.unwrapExplain(); err != nil {
		return err
	}

	if s.Execute, s.NoData = readExecute(src, s.Text, s.root.Stmt, s.first); s.Execute != nil {
		return a.leftover(s.root.Stmt)
	}

	whole := s.root.Stmt
	if named := a.survey(); named || s.Explain != NoExplain {
		if err := a.cutAll(); err != nil {
			return err
		}
	}
	if whole.GetPrepareStmt() != nil && len(s.Cuts)+len(s.Virtual) == 0 {
		s.root.Stmt, s.Prepare, s.Params = whole, nil, 0 // its parameters are not the client's
	}
	if a.owing {
		return a.refuseOwing()
	}
	return nil
}

// cutAll cuts every SELECT that aggregates protected rows, and refuses what then still names a protected table.
func (a *analysis) cutAll() error {
	query, err := a.query()
	if err != nil || query == nil {
		return err
	}
	if err := a.overTwins(); err != nil {
		return err
	}
	if err := a.visit(query, nil); err != nil {
		return err
	}
	return a.leftover(a.stmt.root.Stmt)
}

// mask puts what stands between the client and the server's catalog into the statement.
func (a *analysis) mask() error {
	var masks shadow.Masks
	if c, ok := a.catalog.(Shadower); ok {
		masks.Shadows = c.Shadows()
	}
	if c, ok := a.catalog.(Introspector); ok {
		masks.Listing, masks.Definitions = c.Introspection(), c.Definitions
	}
	if c, ok := a.catalog.(Hider); ok {
		masks.Hidden = c.Hidden()
	}
	changed, err := masks.Apply(shadow.Statement{Root: a.stmt.root.Stmt, Text: a.src.sql, Begin: a.stmt.begin,
		First: a.stmt.first})
	a.stmt.Masked = a.stmt.Masked || changed
	return err
}
