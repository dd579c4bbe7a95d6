package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"fugu/dataset"
	"fugu/internal/config"
	"fugu/internal/doubt"
	"fugu/internal/finding"
	"fugu/internal/setup"
	"fugu/policy"
)

// initFlags is what fugu init is told.
type initFlags struct {
	directory, listen, roles  string
	table, answers            string
	references, open          stringList
	choices                   setup.Choices
	analysts, drop            stringList
	showRows, independentRows bool
	force                     bool
	rows                      int64
}

func (o *initFlags) define(fs *flag.FlagSet) {
	// Where it goes, and what is secret. What has no default is asked for at a terminal.
	fs.StringVar(&o.directory, "dir", ".", "`directory` to write to")
	fs.StringVar(&o.table, "table", "", "`name` of the table that has the secret")
	fs.StringVar(&o.choices.Predicate, "secret", "", "`condition` in SQL: which share of the rows satisfies it is "+
		"secret")
	fs.StringVar(&o.choices.Secret, "name", "secret_share", "`name` of the secret")
	fs.StringVar(&o.choices.From, "from", "", "least `share` that everybody may take for possible")
	fs.StringVar(&o.choices.To, "to", "", "greatest `share` that everybody may take for possible")
	fs.StringVar(&o.choices.Within, "within", "", "how close two `shares` are that nobody may tell apart")
	fs.Int64Var(&o.rows, "rows", 0, "public `number` of rows of the table")

	// How statements are answered, and at which price.
	fs.StringVar(&o.answers, "answers", "", "`how` statements are answered: twin (any SQL on a copy, for one price; "+
		"so it is if nobody says) or noise (each statement pays)")
	fs.Var(&o.references, "reference",
		"`TABLE` of public rows like the table's, or TABLE=REFERENCE; for noise; may be "+
			"repeated")
	fs.StringVar(&o.choices.Epsilon, "epsilon", "1", "`epsilon` of the twin, or of each statement")
	fs.StringVar(&o.choices.Delta, "delta", "0.001", "`delta` of the twin, or of each statement")

	// What of a twin may be seen.
	fs.BoolVar(&o.showRows, "show-rows", false, "let analysts see single rows of the twin")
	fs.BoolVar(&o.independentRows, "independent-rows", false,
		"take rows of one subject, such as a customer's orders, to be drawn one by one")
	fs.Var(&o.drop, "drop", "`column` of the table that its twin leaves out; may be repeated")

	// Who may read what, and where Fugu stands.
	fs.Var(&o.open, "open", "`table` that analysts read as it is, beside those that protected rows refer to; may be "+
		"repeated")
	fs.Var(&o.analysts, "analyst", "`name` of who may ask; may be repeated")
	fs.StringVar(&o.choices.Dataset, "dataset", "", "`name` in budgets; that of the database if it is not given")
	fs.StringVar(&o.listen, "listen", "127.0.0.1:6432", "`host:port` for analysts")
	fs.StringVar(&o.roles, "roles", "fugu", "what the names of the database's roles begin with: `fugu`_guest, ...")
	fs.BoolVar(&o.force, "force", false, "write over files, and give new passwords to roles that there are")
}

// initialize proposes how a table can be protected, and writes what that takes. It reads the catalog and no row.
func initialize(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o initFlags
	fs, err := flagsAlone("init", args, stderr, o.define)
	if err != nil {
		return err
	}
	database := fs.Arg(0)
	if fs.NArg() > 0 { // flags may stand behind it, too
		if err := parse(fs, fs.Args()[1:], stderr); err != nil {
			return err
		}
	}
	if fs.NArg() > 0 {
		return usageError{errors.New("give one database: fugu init postgres://OWNER@HOST/DATABASE")}
	}
	if err := o.numbers(); err != nil {
		return err
	}

	// It comes in as who owns the tables, and reads the catalog alone.
	db, err := pgx.Connect(ctx, database)
	if err != nil && database == "" {
		return fmt.Errorf("no database was named, as in fugu init %s, and that of the environment (PGHOST and the "+
			"like) is not reached: %w", addressForm, err)
	} else if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	catalog, err := setup.Read(ctx, db)
	if err != nil {
		return err
	}

	// What was not given is asked for, where there is somebody to ask.
	o.choices.Dataset = cmp.Or(o.choices.Dataset, db.Config().Database)
	if err := o.complete(ctx, newPrompt(os.Stdin, stderr), db, catalog); err != nil {
		return err
	}
	plan, err := setup.NewPlan(catalog, o.choices)
	if err != nil {
		return err
	}

	// Nothing is written before all of it is known to fit the database.
	found := &findings{config: filepath.Join(o.directory, "fugu.yaml")}
	if err := o.examine(ctx, db, plan, found); err != nil {
		return err
	}
	at, err := o.place(plan, db)
	if err != nil {
		return err
	}
	if err := o.write(plan, at); err != nil {
		return err
	}
	o.report(stdout, database, plan, at)
	return found.tell(stdout, stderr, false)
}

// numbers checks those that flags say in words, which go into the policy as they were typed.
func (o *initFlags) numbers() error {
	ch := &o.choices
	for _, x := range []struct {
		flag, text string
		read       func(string) (float64, error)
	}{{"-from", ch.From, share}, {"-to", ch.To, share}, {"-within", ch.Within, share}, {"-epsilon", ch.Epsilon, finite},
		{"-delta", ch.Delta, finite}} {
		if _, err := x.read(x.text); x.text != "" && err != nil {
			return usageError{fmt.Errorf("%s %w", x.flag, err)}
		}
	}

	// A range the wrong way round, or a precision that it has no room for, is a slip of two flags together.
	from, to, within := decimal(ch.From), decimal(ch.To), decimal(ch.Within)
	switch {
	case ch.From != "" && ch.To != "" && from >= to:
		return usageError{fmt.Errorf("-from %s has to be below -to %s: the share lies between the two", ch.From, ch.To)}
	case ch.Within != "" && within <= 0:
		return usageError{fmt.Errorf("-within %s hides nothing: write how close two shares are that nobody may tell "+
			"apart, such as 0.02", ch.Within)}
	case ch.From != "" && ch.To != "" && within > to-from+1e-12:
		return usageError{fmt.Errorf("-within %s is wider than the whole range from %s to %s", ch.Within, ch.From,
			ch.To)}
	}
	return nil
}

// finite reads a number that is one.
func finite(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q is no number: write one with a point, such as 0.25", text)
	}
	return x, nil
}

// share reads a share of rows. Whoever thinks in percent is told how that is written.
func share(text string) (float64, error) {
	percent, is := strings.CutSuffix(text, "%")
	x, err := finite(percent)
	switch {
	case err != nil:
		return finite(text)
	case (is || x > 1) && x >= 0 && x <= 100:
		return 0, fmt.Errorf("%s is no share of the rows: write %s for %s%%", text, short(x/100), percent)
	case x < 0 || x > 1:
		return 0, fmt.Errorf("%s is no share of the rows: write a number from 0 to 1, such as 0.25", text)
	}
	return x, nil
}

// isCondition checks that PostgreSQL takes a text for a condition on the rows of a table.
func isCondition(ctx context.Context, db *pgx.Conn, table policy.QualifiedName, text string) error {
	d, err := db.Prepare(ctx, "", "SELECT ("+text+") FROM "+dataset.Quoted(table))
	if err != nil {
		return fmt.Errorf("%q is no condition on %s: %w", text, table, err)
	}
	if len(d.Fields) != 1 || d.Fields[0].DataTypeOID != pgtype.BoolOID {
		return fmt.Errorf("%q is not true or false of a row; write a condition, such as supplier = 'X'", text)
	}
	return nil
}

// examine compares the plan with the database: the condition is one, no role is taken that somebody else uses, and
// columns that would betray rows of a twin are left out of it.
func (o *initFlags) examine(ctx context.Context, db *pgx.Conn, plan *setup.Plan, found *findings) error {
	if err := isCondition(ctx, db, plan.Root.QualifiedName, o.choices.Predicate); err != nil {
		return fmt.Errorf("-secret %w", err)
	}

	if taken := ""; !o.force {
		err := db.QueryRow(ctx, "SELECT coalesce(string_agg(rolname, ', '), '') FROM pg_roles WHERE rolname = ANY ($1)",
			plan.RoleNames(o.roles)).Scan(&taken)
		if err != nil {
			return fmt.Errorf("looking for roles: %w", err)
		}
		if taken != "" {
			return fmt.Errorf("there are roles of the names %s already: give -roles another beginning, "+
				"or -force to give them new passwords", taken)
		}
	}
	if plan.Answers != policy.FromTwin {
		return nil
	}

	// The twin has rows of the table, so that what tells rows apart is left out, and of the rest the owner is told.
	var family []string
	for _, t := range plan.Family() {
		family = append(family, dataset.Quoted(t.QualifiedName))
	}
	for _, t := range plan.Family() {
		doubts, err := doubt.Twin(ctx, throughConn(db), dataset.Quoted(t.QualifiedName), nil, family,
			o.independentRows || t != plan.Root)
		if err != nil {
			return err
		}
		for _, d := range doubts {
			switch d.Kind {
			case doubt.Itself, doubt.Position, doubt.Unique:
				plan.Leave(t.QualifiedName, d.Column, d.What+": "+d.Why)
			default:
				found.add(finding.Warning, place{}, fmt.Sprintf("table %s: %s", t, d.What), d.Why, d.Fix)
			}
		}
	}
	for _, name := range o.drop {
		if plan.Root.Column(name) == nil {
			return fmt.Errorf("-drop: table %s has no column %s", plan.Root, name)
		}
		plan.Leave(plan.Root.QualifiedName, name, "left out by its owner")
	}
	return nil
}

// place works out where the proxy will stand, and gives everybody a password.
func (o *initFlags) place(plan *setup.Plan, db *pgx.Conn) (setup.Place, error) {
	at := setup.Place{Listen: o.listen, Roles: o.roles, Server: &db.Config().Config,
		Logins: map[string]setup.Pass{}, Users: map[string]setup.Pass{}}
	// What was tried first says nothing: without sslmode a server that has no TLS is asked for it, too.
	_, at.Encrypted = db.PgConn().Conn().(*tls.Conn)
	var err error
	if at.Directory, err = filepath.Abs(o.directory); err != nil {
		return at, err
	}
	if at.Binary, err = os.Executable(); err != nil {
		return at, err
	}

	// Roles in the database and analysts have passwords of their own: the latter never see the former.
	for _, name := range []string{"guest", "reader", "keeper"} {
		if at.Logins[name], err = newPassword(); err != nil {
			return at, err
		}
	}
	for _, name := range plan.Analysts {
		if at.Users[name], err = newPassword(); err != nil {
			return at, err
		}
	}

	return at, nil
}

// write writes the files, and none over another; what is written is read back first, as check and serve do.
func (o *initFlags) write(plan *setup.Plan, at setup.Place) error {
	files := plan.Files(at)

	// A file that fugu check would refuse is not worth writing.
	if _, err := policy.Parse(files[0].Name, []byte(files[0].Text)); err != nil {
		return fmt.Errorf("what was asked for makes no policy:\n%w", err)
	}
	if _, err := config.Parse(filepath.Join(at.Directory, files[1].Name), []byte(files[1].Text), nil); err != nil {
		return fmt.Errorf("what was asked for makes no configuration:\n%w", err)
	}

	// All files that are in the way are named at once, before any is written.
	var there []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(at.Directory, f.Name)); err == nil {
			there = append(there, f.Name)
		}
	}
	if len(there) > 0 && !o.force {
		return fmt.Errorf("there is %s in %s already: give -dir another directory, or -force to write over it",
			strings.Join(there, ", "), at.Directory)
	}

	if err := os.MkdirAll(at.Directory, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := writeWhole(filepath.Join(at.Directory, f.Name), []byte(f.Text), f.Mode, nil); err != nil {
			return err
		}
	}
	return nil
}

// report says what was written, and what to do with it. Passwords of analysts are told here and nowhere else.
func (o *initFlags) report(stdout io.Writer, database string, plan *setup.Plan, at setup.Place) {
	in := func(file string) string { return filepath.Join(o.directory, file) }

	// What was decided about each table.
	fmt.Fprintf(stdout, "%s %s is protected, with its secret %s\n", green(stdout, "ok"), plan.Root, plan.Secret)
	for _, l := range plan.Linked {
		fmt.Fprintf(stdout, "   %s goes with it\n", l)
	}
	for _, name := range plan.Closed {
		fmt.Fprintf(stdout, "   %s is closed: its rows show which protected rows there are\n", name)
	}
	for _, t := range plan.Ordinary {
		fmt.Fprintf(stdout, "   %s is ordinary: analysts read it as it is\n", t)
	}
	for _, d := range plan.Dropped {
		fmt.Fprintf(stdout, "   %s.%s is left out: %s\n", d.Table, d.Column, d.Why)
	}

	// The file of users has verifiers, so that no other place knows these.
	for _, a := range plan.Analysts {
		fmt.Fprintf(stdout, "   password of %s: %s\n", a, at.Users[a].Password)
	}

	// What is to be run next, as it can be copied.
	config := " -c " + in("fugu.yaml")
	fmt.Fprintf(stdout, "\nRead %s, and then:\n\n  psql %s -f %s\n  fugu check%s\n", in(plan.Dataset+policy.Suffix),
		databaseWord(database), in("grants.sql"), config)
	if plan.Answers == policy.FromTwin {
		fmt.Fprintf(stdout, "  fugu twin preview%s\n  fugu twin build%[1]s\n", config)
	}
	fmt.Fprintf(stdout, "  fugu serve%s\n\n", config)
}

// databaseWord is a database's URL as a word for a shell; one with a password in it is not repeated.
func databaseWord(database string) string {
	if u, err := url.Parse(database); err != nil || strings.Contains(database, "password") {
		return "DATABASE-URL"
	} else if _, secret := u.User.Password(); secret {
		return "DATABASE-URL"
	}
	return "'" + strings.ReplaceAll(database, "'", `'\''`) + "'"
}
