package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/config"
	"fugu/internal/nearest"
	"fugu/ledger"
	"fugu/policy"
	"fugu/twin/build"
)

// twinCommand makes, shows, exports and drops the twins that policies ask for.
func twinCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o build.Options
	asJSON, why := false, ledger.Why{Operator: login()}
	var asked *flag.FlagSet
	said, path, err := words("twin", args, stderr, func(fs *flag.FlagSet) {
		asked = fs
		fs.BoolVar(&asJSON, "json", false, "print JSON")
		buildFlags(fs, &o)
		whyFlagsWithUser(fs, &why)
	})
	if err != nil {
		return err
	}

	// What is asked for is checked before anything is opened.
	o.Reason = why.Reason
	if err := checkAsked(said, asked, o); err != nil {
		return err
	}

	file, datasets := "", said[1:]
	if said[0] == "export" {
		if file, datasets, err = exportOf(said[1:]); err != nil {
			return err
		}
	}
	w, err := openTwins(path, datasets)
	if err != nil {
		return err
	}
	if said[0] == "export" {
		if err := w.oneDataset(); err != nil {
			return err
		}
	}

	// A preview follows from the policy alone, and no database is asked.
	if said[0] == "preview" {
		return w.preview(stdout, asJSON)
	}

	at, err := w.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = at.Close(context.WithoutCancel(ctx)) }()
	switch said[0] {
	case "show":
		return w.show(ctx, at, datasets, stdout, asJSON)
	case "drop":
		return w.drop(ctx, at, stdout)
	case "export":
		return w.export(ctx, at, file, stdout, stderr, asJSON)
	}
	return w.build(ctx, at, o, why.Operator, stdout, stderr, asJSON)
}

// buildFlags are the flags of how twins are built.
func buildFlags(fs *flag.FlagSet, o *build.Options) {
	fs.BoolVar(&o.Again, "again", false,
		"build: make twins again from the rows that there are now, with the counts that they have; free")
	fs.BoolVar(&o.New, "new", false, "build: draw new counts, which is charged like the first; needs -reason")
	fs.BoolVar(&o.Independent, "independent", false,
		"build: the owner declares that the rows are drawn independently of those of every twin before")
	fs.BoolVar(&o.Outside, "outside", false,
		"build: make the first twin also of a table that has no row of some class of a secret")
}

// twinWords are the commands of twins.
var twinWords = []string{"build", "preview", "show", "drop", "export"}

// checkAsked refuses what is no command of twins, flags of another one, and new counts without a reason.
func checkAsked(said []string, asked *flag.FlagSet, o build.Options) error {
	if len(said) == 0 || !slices.Contains(twinWords, said[0]) {
		const say = `say "fugu twin build", "preview", "show" or "drop", ` +
			`with the names of datasets behind it, or none for all; or "fugu twin export", with a dataset and a file`
		if len(said) == 0 {
			return usageError{errors.New(say)}
		}
		if near := nearest.Of(said[0], twinWords); near != "" {
			return usageError{fmt.Errorf("there is no twin %s: write fugu twin %s", said[0], near)}
		}
		return usageError{fmt.Errorf("there is no twin %s: %s", said[0], say)}
	}

	// A flag of another command would be passed over in silence.
	takes := map[string][]string{"preview": {"json"}, "show": {"json"}, "export": {"json"},
		"build": {"again", "new", "independent", "outside", "reason", "operator", "user", "json"}}[said[0]]
	if err := takesOnly(asked, "twin "+said[0], takes...); err != nil {
		return err
	}

	// Of what build takes, some contradict each other.
	if o.Again && o.New {
		return usageError{errors.New("-again keeps the counts that there are, and -new draws others: give one of them")}
	}
	if o.New && strings.TrimSpace(o.Reason) == "" {
		return usageError{errors.New("new counts need a -reason: the audit chain keeps it")}
	}
	return nil
}

// standApart reports whether twins are in another database than the protected tables.
func (w *twins) standApart() bool { return w.config.Upstream.Twins != "" }

// connect opens a connection to where the twins are, as their owner.
func (w *twins) connect(ctx context.Context) (*pgx.Conn, error) {
	if !w.standApart() {
		return connectTwins(ctx, "upstream.keeper", w.config.Upstream.Keeper)
	}
	return connectTwins(ctx, "upstream.twins", w.config.Upstream.Twins)
}

func connectTwins(ctx context.Context, key string, dsn config.DSN) (*pgx.Conn, error) {
	conn, err := build.Connect(ctx, string(dsn))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return conn, nil
}

// twins are the tables of the configuration's policies that have a twin of their own.
type twins struct {
	config *config.Config
	roots  []twinRoot
}

type twinRoot struct {
	policy *policy.Policy
	table  policy.Table
}

func openTwins(path string, datasets []string) (*twins, error) {
	cfg, err := config.Load(path, os.Environ())
	if err != nil {
		return nil, err
	}
	policies, err := policy.Load(cfg.Policy)
	if err != nil {
		return nil, err
	}

	// A dataset that is misspelt is an error, and not one without twins.
	w := &twins{config: cfg}
	for _, d := range datasets {
		if !slices.ContainsFunc(policies, func(p *policy.Policy) bool { return p.Dataset == d }) {
			return nil, fmt.Errorf("there is no dataset %q in %s", d, cfg.Policy)
		}
	}

	// Linked tables go with their root.
	for _, p := range policies {
		for _, t := range p.Tables {
			wanted := len(datasets) == 0 || slices.Contains(datasets, p.Dataset)
			if wanted && t.Answers == policy.FromTwin && t.Link == nil {
				w.roots = append(w.roots, twinRoot{p, t})
			}
		}
	}

	if len(w.roots) > 0 && cfg.Upstream.Keeper == "" {
		return nil, errors.New("upstream.keeper is missing in the configuration, the role that reads protected " +
			"tables and owns their twins: write keeper: " + addressForm)
	}
	if len(w.roots) == 0 && cfg.Upstream.Keeper == "" {
		return nil, fmt.Errorf("no table has a twin: write answers: twin at one in %s; with noise, nothing is built",
			cfg.Policy)
	}
	if err := w.sameDatabase(); err != nil {
		return nil, err
	}
	return w, nil
}

// sameDatabase refuses twins of tables in another database than the keeper's.
func (w *twins) sameDatabase() error {
	if len(w.roots) == 0 {
		return nil
	}
	keeper, err := pgconn.ParseConfig(string(w.config.Upstream.Keeper))
	if err != nil {
		return fmt.Errorf("reading upstream.keeper: %w", err)
	}
	for _, root := range w.roots {
		wanted, has := root.policy.Database, cmp.Or(keeper.Database, keeper.User)
		if wanted != "" && has != wanted {
			return fmt.Errorf("dataset %s is in the database %q, and upstream.keeper leads to %q: "+
				"give the command a configuration whose keeper leads there", root.policy.Dataset, wanted, has)
		}
	}
	return nil
}

// guests are the roles that twins are shown to.
func (w *twins) guests() ([]string, error) {
	roles := map[string]bool{}
	add := func(dsn config.DSN) error {
		c, err := pgconn.ParseConfig(string(dsn))
		if err == nil {
			roles[c.User] = true
		}
		return err
	}

	// A guest is named by its role, or by a DSN that has it.
	if err := add(w.config.Upstream.Guest); err != nil {
		return nil, fmt.Errorf("reading upstream.guest: %w", err)
	}
	for _, g := range w.config.Upstream.Guests {
		if g.DSN == "" {
			roles[g.Role] = true
		} else if err := add(g.DSN); err != nil {
			return nil, fmt.Errorf("reading upstream.guests: %w", err)
		}
	}
	return slices.Sorted(maps.Keys(roles)), nil
}

// reader is the role that aggregates twins whose rows are not listed; empty where there is none, or no such twin.
func (w *twins) reader() (string, error) {
	if w.config.Upstream.Reader == "" || w.standApart() {
		return "", nil
	}
	c, err := pgconn.ParseConfig(string(w.config.Upstream.Reader))
	if err != nil {
		return "", fmt.Errorf("reading upstream.reader: %w", err)
	}
	return c.User, nil
}

// build makes the twins that are not there, over the connection of who owns them.
func (w *twins) build(
	ctx context.Context, at *pgx.Conn, o build.Options, who string, stdout, stderr io.Writer, asJSON bool,
) error {
	guests, err := w.guests()
	if err != nil {
		return err
	}
	reader, err := w.reader()
	if err != nil {
		return err
	}
	l, err := ledger.Open(ctx, ledgerURL(w.config.Ledger), ledger.Options{Key: w.config.Ledger.Key})
	if err != nil {
		return fmt.Errorf("opening the ledger: %w", err)
	}
	defer func() { _ = l.Close() }()

	// The keeper reads the protected tables; where twins have a place apart, it is not the one who writes there.
	keeper, target := at, (*pgx.Conn)(nil)
	if w.standApart() {
		target = at
		if keeper, err = connectTwins(ctx, "upstream.keeper", w.config.Upstream.Keeper); err != nil {
			return err
		}
		defer func() { _ = keeper.Close(context.WithoutCancel(ctx)) }()
	}
	var reports []build.Report
	for _, root := range w.roots {
		k := build.Keeper{
			Conn: keeper, Target: target, Ledger: planted(l), Random: rand.Reader,
			Guests: guests, Reader: reader, Operator: who,
			Progress: buildProgress(stderr, root.table.Qualified().String()),
		}
		r, err := k.Build(ctx, root.policy, root.table, o)
		if err != nil {
			return err
		}
		reports = append(reports, r)
		if !asJSON {
			printBuild(stdout, root, r)
		}
	}
	if asJSON {
		return printJSON(stdout, reports)
	}
	if len(w.roots) == 0 {
		fmt.Fprintln(stdout, "no policy asks for a twin (answers: twin)")
	}
	return nil
}

// printBuild prints what became of the twin of one table.
func printBuild(stdout io.Writer, root twinRoot, r build.Report) {
	for _, warning := range r.Warnings {
		fmt.Fprintf(stdout, "%s %s: %s\n", coloured(stdout, inYellow, "warning:"), root.table.Qualified(), warning)
	}
	if !r.Made {
		fmt.Fprintf(stdout, "%s %s: its twin is there; nothing to do\n", green(stdout, "ok"), root.table.Qualified())
		return
	}

	// The first one is that of the root, and has the classes.
	t := r.Twins[0]
	price := "nothing was charged: its counts had been paid for"
	if r.Charged {
		price = fmt.Sprintf("charged epsilon %g, delta %g, once and for ever", t.Epsilon, t.Delta)
	}
	fmt.Fprintf(stdout, "%s %s: its twin has %d rows, copies of %d that were taken; %s\n", green(stdout, "ok"),
		root.table.Qualified(), t.Rows, t.Sampled, price)
	for i, class := range t.Classes {
		fmt.Fprintf(stdout, "   %s: told as %d rows, %d taken\n", class, t.Told[i], t.Taken[i])
	}

	printColumns(stdout, t)
	for _, linked := range r.Twins[1:] {
		fmt.Fprintf(stdout, "   %s.%s goes with it: %d rows\n", linked.Schema, linked.Table, linked.Rows)
	}
	for _, x := range r.Twins {
		for _, left := range x.Left {
			fmt.Fprintf(stdout, "   note: the twin does not have %s\n", left)
		}
	}
}

func (w *twins) drop(ctx context.Context, conn *pgx.Conn, stdout io.Writer) error {
	for _, root := range w.roots {
		dropped, err := build.Drop(ctx, conn, w.standApart(), root.policy, root.table)
		if err != nil {
			return err
		}
		if len(dropped) == 0 {
			fmt.Fprintf(stdout, "%s has no twin\n", root.table.Qualified())
			continue
		}
		fmt.Fprintf(stdout, "%s the twins of %s are gone; fugu twin build makes the same again, at no further charge\n",
			green(stdout, "ok"), strings.Join(dropped, ", "))
	}
	return nil
}

// buildProgress shows how far a build has come: a bar on a terminal, lines otherwise.
func buildProgress(w io.Writer, name string) func(build.Step) {
	line := newProgressLine(w)
	return func(s build.Step) {
		if !line.fits() {
			fmt.Fprintf(w, "fugu twin: %s: %3.0f%% %s\n", name, 100*s.Done, s.What)
			return
		}
		line.show(fmt.Sprintf("%s %s %s", name, bar(s.Done), s.What), s.Done == 1)
	}
}
