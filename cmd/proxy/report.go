package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"fugu/dataset"
	"fugu/explain"
	fitting "fugu/fit"
	"fugu/mechanism"
	"fugu/policy"
	previewing "fugu/preview"
	"fugu/privacy"
	"fugu/quote"
)

// check reads everything that serve would, and reports.
func check(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	_, path, err := flags("check", args, stderr, nil)
	if err != nil {
		return err
	}
	h, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer h.close()

	// All that serve would read is read before anything is printed: what serve would not start with is the result.
	if err := h.twinsFit(ctx); err != nil {
		return err
	}
	door, err := openDoor(h.config, false)
	if err != nil {
		return err
	}
	if err := h.takeOver(ctx); err != nil {
		return err
	}

	for _, w := range door.warnings {
		fmt.Fprintf(stdout, "warning: %s\n", w)
	}
	for _, w := range h.warnings {
		fmt.Fprintf(stdout, "warning: %s\n", w)
	}
	for _, r := range h.rooms {
		for _, w := range r.snapshot.Ties() {
			fmt.Fprintf(stdout, "warning: %s\n", w)
		}
	}

	if h.twinsApart() {
		return h.checkApart(ctx, stdout)
	}
	if len(h.rooms) > 1 {
		for _, r := range h.rooms {
			fmt.Fprintf(stdout, "%s database %q: policies: %d\n", green(stdout, "ok"), r.database, len(r.policies))
		}
	}

	for _, p := range h.policies {
		if err := h.checkDataset(ctx, stdout, p); err != nil {
			return err
		}
	}
	return nil
}

// checkDataset prints what one policy means for its dataset, and what its owner should know of it.
func (h *house) checkDataset(ctx context.Context, stdout io.Writer, p *policy.Policy) error {
	noted := func(format string, args ...any) { fmt.Fprintf(stdout, "   note: "+format+"\n", args...) }
	hasNoise := slices.ContainsFunc(p.Tables, noisy)

	// What is in the policy, and what is believed because it says so.
	fmt.Fprintf(stdout, "%s dataset %s: %s, %s\n", green(stdout, "ok"), p.Dataset,
		numbered(len(p.Tables), "protected table"), numbered(len(p.Secrets), "secret"))
	for _, d := range p.Declared {
		sql := fitting.Brief(d.Statement.SQL)
		noted("the model of %s is declared (%s), and believed as it stands: %s", d.Name, sql, d)
	}
	for _, s := range p.Public {
		noted("the policy says that everybody knows %s: %s: %s", s.Name, fitting.Brief(s.Statement.SQL), s)
	}
	if len(p.Secrets) > 0 && hasNoise {
		noted("%s", knownTotals(p))
	}
	if err := h.checkTwins(ctx, stdout, p); err != nil {
		return err
	}
	if p.Privacy.Composition == policy.Jointly {
		noted("composition is joint: answers count the randomness of the rows once, all together; " +
			"counts, sums and averages alone are answered")
	}

	// Where the reference is not what the policy takes it for.
	if err := h.checkReference(ctx, p, noted); err != nil {
		return err
	}

	// What answers will cost, and which there will not be.
	checkBudget(stdout, p)
	snapshot := h.room(p.Database).snapshot.Snapshot
	for _, what := range unanswerable(snapshot, p) {
		fmt.Fprintf(stdout, "warning: dataset %s: %s\n", p.Dataset, what)
	}
	for _, why := range withoutBounds(p) {
		noted("percentiles and DISTINCT are refused: %s", why)
	}
	for _, what := range quote.Uncertified(snapshot, p) {
		fmt.Fprintf(stdout, "warning: %s\n", what)
	}
	for _, t := range p.Tables {
		if d := only(snapshot, t); d != nil {
			noted("%s answers one statement, and no other: that of the model %s, which is declared by samples",
				t.Qualified(), d.Name)
		}
	}
	coupled := func(t policy.Table) bool { return noisy(t) && t.Link == nil && only(snapshot, t) == nil }
	if !p.Accepts(policy.Translation) && slices.ContainsFunc(p.Tables, coupled) {
		noted("the assumption translation is not accepted, so noise rests on bounds for coupled datasets: " +
			"there is more of it, and secret means are refused")
	}
	return nil
}

// checkReference notes rows of the reference that are in no group, or that stand in it more than once, joins of which
// it says too little, and what becomes of epsilon if it misleads.
func (h *house) checkReference(ctx context.Context, p *policy.Policy, noted func(format string, args ...any)) error {
	room := h.room(p.Database)
	outside, err := room.snapshot.Undeclared(ctx, p, room.reader)
	if err != nil {
		return err
	}
	for _, u := range outside {
		noted("%d of the %d rows of %s's reference have a value of %s outside of its group_by: "+
			"such rows are in no group of it", u.Rows, u.Of, u.Table, u.Column)
	}

	repeated, err := room.snapshot.Repeated(ctx, p, room.reader)
	if err != nil {
		return err
	}
	for _, r := range repeated {
		noted("%d of the %d rows of %s's reference have a key (%s) that stands there more than once: "+
			"several rows of one subject are taken for independent ones, and the model for surer than it is: "+
			"give one row of each subject", r.Rows, r.Of, r.Table, r.Columns)
	}

	joined, err := room.snapshot.Joined(ctx, p, room.reader)
	if err != nil {
		return err
	}
	for _, j := range joined {
		noted("joins of %s with %s over %s have noise for whatever that could say of %d values, whoever may write to "+
			"it: copy the columns by which statements group or select into %[1]s and its reference",
			j.Table, j.To, j.Columns, j.Values)
	}

	// What becomes of the promise if the reference is not the truth, and what it costs to promise that, too.
	misled, err := fitting.Misled(ctx, room.snapshot.Snapshot, room.reader, p)
	if err != nil {
		return err
	}
	for _, what := range misled {
		noted("%s", what)
	}
	return nil
}

// knownTotals says what Fugu cannot find out: who knows a total of the table exactly sees by an answer beside it what
// the noise was, and takes it off the rest.
func knownTotals(p *policy.Policy) string {
	const belongs = "every total of a protected table that an analyst may know exactly belongs under public, " +
		"or answers beside it give the secret away (docs/threat-model.md)"
	if len(p.Public) == 0 {
		return "the policy declares no public statistics: " + belongs
	}
	return belongs
}

// noisy reports whether a table is answered with noise.
func noisy(t policy.Table) bool { return t.Answers != policy.FromTwin }

// unanswerable says of which tables no statement can be answered, and why, where that shows in the policy alone.
func unanswerable(s *dataset.Snapshot, p *policy.Policy) (out []string) {
	for _, t := range p.Tables {
		if !noisy(t) || t.Link != nil { // what is linked has the secrets of the other
			continue
		}
		if why := refusesAll(p, t, only(s, t) != nil); why != "" {
			out = append(out, fmt.Sprintf("every statement on %s is refused: %s", t.Qualified(), why))
		}
	}
	return out
}

// only is the model of the one statement that a table answers; nil: it answers others too.
func only(s *dataset.Snapshot, t policy.Table) *dataset.Declared {
	if found := s.Find(t.Schema, t.Name); found != nil {
		return found.Alone
	}
	return nil
}

// refusesAll says why every statement on a table is refused: parameters of networks have a mechanism of their own, and
// without an assumption on distributions there is noise for coupled datasets only, which some mechanisms have not, nor
// secret means, and none at delta 0. What is declared by samples needs no more than they say.
func refusesAll(p *policy.Policy, t policy.Table, sampled bool) string {
	k := mechanism.Kind(p.Privacy.Mechanism)
	parameter, mean := "", ""
	for _, s := range p.Secrets {
		if s.Table == t.Qualified() {
			parameter = cmp.Or(parameter, s.Parameter)
			if s.Mean != "" {
				mean = cmp.Or(mean, s.Name)
			}
		}
	}

	switch {
	case parameter != "" && k != mechanism.Auto && k != mechanism.MarkovQuilt:
		return fmt.Sprintf("the mechanism %s cannot hide a parameter of a network; write mechanism: %s", k,
			mechanism.Auto)
	case parameter == "" && k == mechanism.MarkovQuilt:
		return fmt.Sprintf("the mechanism %s hides parameters of a network, and this table has none; "+
			"write mechanism: %s", k, mechanism.Auto)
	case parameter != "" || p.Accepts(policy.Translation):
		return ""
	case sampled && (k == mechanism.Wasserstein || k == mechanism.ApproximateWasserstein):
		return ""
	case p.Privacy.Delta == 0 && !sampled:
		return "without an assumption on how statistics are distributed nothing is private at delta 0; " +
			"write a privacy.delta above 0, or assume: [translation]"
	case mean != "" && !sampled:
		return fmt.Sprintf("secret %s is a mean, which is hidden under an assumption on how statistics are "+
			"distributed alone; write assume: [translation]", mean)
	case !slices.Contains([]mechanism.Kind{mechanism.Auto, mechanism.ExpmLaplace, mechanism.ExpmGaussian,
		mechanism.Directional}, k):
		return fmt.Sprintf("the mechanism %s needs an assumption on how statistics are distributed; "+
			"write mechanism: %s, or assume: [translation]", k, mechanism.Auto)
	}
	return ""
}

// withoutBounds says why no percentile and no DISTINCT can be answered, where that shows in the policy alone: they rest
// on bounds for coupled datasets, whatever is assumed of the rest.
func withoutBounds(p *policy.Policy) (out []string) {
	if p.Privacy.Delta == 0 && slices.ContainsFunc(p.Tables, noisy) {
		return []string{"they can be bounded but for a probability only; write a privacy.delta above 0"}
	}
	for _, t := range p.Tables {
		if noisy(t) && t.Drawn == policy.FromReference {
			out = append(out, fmt.Sprintf("%s has drawn: from-reference, and nothing bounds how they differ then",
				t.Qualified()))
		}
	}
	for _, s := range p.Secrets {
		if s.Mean != "" {
			out = append(out, fmt.Sprintf("secret %s of %s is a mean, and nothing bounds how they differ between "+
				"datasets of different means", s.Name, s.Table))
		}
	}
	return out
}

// checkBudget prints who shares in a policy's budget, and what its renewal gives up.
func checkBudget(stdout io.Writer, p *policy.Policy) {
	b := p.Privacy.Budget
	of := func(b privacy.Budget) string {
		return fmt.Sprintf("epsilon %v, delta %v", float64(b.Epsilon), float64(b.Delta))
	}
	everybody := privacy.Budget{Epsilon: b.Epsilon, Delta: b.Delta}
	fmt.Fprintf(stdout, "   note: the budget of everybody together is %s\n", of(everybody))

	if s := b.Shares; s != nil {
		for _, u := range s.Users {
			fmt.Fprintf(stdout, "   note: share of user %q below it: %s\n", u.Name, of(u.Limit))
		}
		for _, g := range s.Groups {
			fmt.Fprintf(stdout, "   note: share of group %q (%s) below it: %s\n",
				g.Name, strings.Join(g.Members, ", "), of(g.Limit))
		}
		if s.Default != nil {
			fmt.Fprintf(stdout, "   note: share of each other user below it: %s\n", of(*s.Default))
		}
	} else if b.Per == policy.PerUser {
		fmt.Fprintf(stdout, "   note: budget.per is user: "+
			"each user has an account of his own below it, and no more than it\n")
	}

	if gives := b.Renewal(); gives != "" {
		fmt.Fprintf(stdout, "warning: dataset %s: %s\n", p.Dataset, gives)
	}
	if p.Epoch.Label != "" {
		fmt.Fprintf(stdout, "   note: the data are those of epoch %s, drawn %sly of any before\n",
			p.Epoch.Label, p.Epoch.Draw)
	}
}

// previewEpsilons are the ε that preview shows when none is asked for.
const previewEpsilons = "0.1,0.2,0.5,1,2,5"

// preview prints what a statement would get at several ε.
func preview(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	asJSON, list, database := false, previewEpsilons, ""
	var params stringList
	fs, path, err := flags("preview", args, stderr, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print JSON")
		fs.StringVar(&list, "epsilon", list, "`list` of epsilon, separated by commas")
		fs.StringVar(&database, "database", "", "`name` of the statement's database, where policies name several")
		fs.Var(&params, "p", "`value` of the next parameter ($1, $2, ...); may be repeated")
	})
	if err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return usageError{errors.New(`give one statement: fugu preview -c fugu.yaml "SELECT ..."`)}
	}
	var epsilons []privacy.Epsilon
	for _, word := range strings.Split(list, ",") {
		e, err := privacy.ParseEpsilon(strings.TrimSpace(word))
		if err != nil {
			return usageError{err}
		}
		epsilons = append(epsilons, e)
	}

	// A preview sees what earlier answers bring to the next one, so that it reads the ledger, and writes nothing.
	h, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer h.close()
	if len(h.policies) == 0 {
		return errNoPolicy
	} else if h.twinsApart() {
		return errApart
	}
	if err := h.openLedger(ctx, false); err != nil {
		return err
	}
	if err := h.takeOver(ctx); err != nil {
		return err
	}
	room, err := h.asked(database)
	if err != nil {
		return err
	}
	previews, err := previewing.New(room.snapshot.Snapshot, room.reader, h.ledger)
	if err != nil {
		return err
	}
	xs, err := previews.Explain(ctx, fs.Arg(0), params, epsilons)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(stdout, xs)
	}
	return printPreview(stdout, xs)
}

// printPreview prints what the answers would be, which is the same at every ε, and then the noise at each.
func printPreview(stdout io.Writer, xs []explain.Explanation) error {
	for _, c := range xs[0].Cuts {
		by := ""
		if len(c.Keys) > 0 {
			by = fmt.Sprintf(" by %s (%d public combinations)", strings.Join(c.Keys, ", "), c.Cells)
		}
		fmt.Fprintf(stdout, "F: %s of %s%s\n", strings.Join(c.Aggregates, ", "), c.Table, by)
	}

	for _, s := range xs[0].Secrets {
		fmt.Fprintf(stdout, "secret %s moves F by at most %s (L1), %s (L2)\n", s.Secret, short(s.Norm1), short(s.Norm2))
	}

	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nepsilon\tmechanism\tcolumn\tnoise sd\t95% within\tsampling sd\t")
	for _, x := range xs {
		for _, n := range x.Noise {
			sd := short(n.SDMin)
			if short(n.SDMax) != sd {
				sd += ".." + short(n.SDMax)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t±%s\t%s\t\n", short(x.Epsilon), x.Mechanism, n.Column, sd,
				short(n.HalfWidth), short(n.Inherent))
		}
	}
	return w.Flush()
}
