package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"fugu/dataset"
	fitting "fugu/fit"
	"fugu/internal/finding"
	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
	"fugu/upstream"
)

// check reads everything that serve would, and reports.
func check(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	asJSON := false
	fs, path, err := flags("check", args, stderr, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print JSON")
	})
	if err == nil {
		err = noArguments(fs)
	}
	if err != nil {
		return err
	}
	f := &findings{config: path}
	f.fail(f.look(ctx))
	return f.tell(stdout, stderr, asJSON)
}

// look finds all there is to say of a configuration; the error is what serve would not start with.
func (f *findings) look(ctx context.Context) error {
	h, err := open(ctx, f.config)
	if err != nil {
		return err
	}
	defer h.close()

	// All that serve would read is read before anything is said: what serve would not start with is the result.
	if err := h.twinsFit(ctx); err != nil {
		return err
	}
	door, err := openDoor(h.config, toLook)
	if err != nil {
		return err
	}
	if err := h.takeOver(ctx); err != nil {
		return err
	}
	if err := h.openLedger(ctx, toLook); err != nil && len(h.policies) > 0 {
		return err
	}

	for _, w := range door.warnings {
		f.add(finding.Warning, f.setting("auth"), w, "clients log in all the same, with less protection than they "+
			"could have", "give Fugu the file, or the certificate, that it speaks of, and start it again")
	}
	for _, p := range h.policies {
		f.strangers(p, door)
	}
	for _, w := range h.warnings {
		f.grants(w)
	}
	for _, r := range h.rooms {
		for _, w := range r.snapshot.Ties() {
			at := place{file: w.File, at: policy.Position{Line: w.Line, Column: w.Column}}
			f.add(finding.Warning, at, w.Message, "who learns one of them learns of the others, too", w.Hint)
		}
	}

	if h.twinsApart() {
		return h.checkApart(ctx, f)
	}
	if len(h.rooms) > 1 {
		for _, r := range h.rooms {
			f.add(finding.OK, place{}, fmt.Sprintf("database %q: policies: %d", r.database, len(r.policies)), "", "")
		}
	}

	for _, p := range h.policies {
		if err := h.checkDataset(ctx, f, p); err != nil {
			return err
		}
	}
	return nil
}

// strangers are analysts of a policy who have no password: a name that is misspelt shuts somebody out, silently.
func (f *findings) strangers(p *policy.Policy, d *door) {
	for _, name := range p.Analysts {
		if _, known := d.users[name]; !known && d.users != nil {
			what := fmt.Sprintf("analyst %q is not in the users file, and cannot come in", name)
			f.add(finding.Warning, f.under(p, "analysts"), what, "a name that is misspelt shuts somebody out, silently",
				"mend the name, or give a password: fugu user add "+name)
		}
	}
}

// grants takes in what the databases say of the roles of the configuration.
func (f *findings) grants(w upstream.Finding) {
	f.add(finding.Warning, f.setting("upstream"), w.Message, "what these roles may do is what a mistake elsewhere "+
		"could reach, and what they may not is refused to clients", cmp.Or(w.Hint, "give the roles of upstream the "+
		"rights that docs/operations.md lists, and no more"))
}

// checkDataset says what one policy means for its dataset, and what its owner should know of it.
func (h *house) checkDataset(ctx context.Context, f *findings, p *policy.Policy) error {
	if err := h.checkBelieved(ctx, f, p); err != nil {
		return err
	}
	if err := h.checkReference(ctx, f, p); err != nil {
		return err
	}
	if err := h.checkRows(ctx, f, p); err != nil {
		return err
	}
	f.budget(p)
	h.checkAnswers(f, p)
	return h.forecast(ctx, f, p)
}

// checkBelieved says what is in a policy, and what is believed because the policy says so.
func (h *house) checkBelieved(ctx context.Context, f *findings, p *policy.Policy) error {
	f.add(finding.OK, f.under(p, "dataset"), fmt.Sprintf("dataset %s: %s, %s", p.Dataset,
		numbered(len(p.Tables), "protected table"), numbered(len(p.Secrets), "secret")), "", "")
	for _, d := range p.Declared {
		f.add(finding.Note, f.in(p, d.At),
			fmt.Sprintf("the model of %s is declared (%s), and believed as it stands: %s",
				d.Name, fitting.Brief(d.Statement.SQL), d), "noise is worked out from it, and no reference "+
				"contradicts it",
			"nothing, if you stand for it; leave it out, and a reference is asked instead")
	}
	for _, s := range p.Public {
		f.add(finding.Note, f.in(p, s.At), fmt.Sprintf("the policy says that everybody knows %s: %s: %s", s.Name,
			fitting.Brief(s.Statement.SQL), s), "it is told without noise, and answers beside it are counted as for "+
			"somebody who has it", "nothing, if analysts may know it exactly; take it out if they do not")
	}

	// Whoever knows a total exactly sees by an answer beside it what the noise was.
	if len(p.Secrets) > 0 && slices.ContainsFunc(p.Tables, noisy) {
		what, why, fix := knownTotals(p)
		f.add(finding.Note, f.under(p, "public"), what, why, fix)
	}
	if err := h.checkTwins(ctx, f, p); err != nil {
		return err
	}
	if p.Privacy.Composition == policy.Jointly {
		f.add(finding.Note, f.under(p, "privacy", "composition"), "composition is joint: answers count the randomness "+
			"of the rows once, all together; counts, sums and averages alone are answered", "rows are random once, "+
			"and each answer that counted this by itself would count it again", "nothing; leave composition out to "+
			"have other aggregates answered, at a higher price for many statements")
	}
	return nil
}

// checkAnswers says which statements a policy will not have answered, and which assumptions it does without.
func (h *house) checkAnswers(f *findings, p *policy.Policy) {
	snapshot := h.room(p.Database).snapshot.Snapshot
	for _, what := range unanswerable(snapshot, p) {
		f.add(finding.Warning, f.under(p, "privacy"), fmt.Sprintf("dataset %s: %s", p.Dataset, what), "no mechanism "+
			"that the policy allows keeps its promise without that", "change what it names, or write answers: twin "+
			"for the table")
	}
	for _, why := range withoutBounds(p) {
		f.add(finding.Note, f.under(p, "privacy"), "percentiles and DISTINCT are refused: "+why, "how far the "+
			"rows move them is not a sum over rows, and has to be bounded in another way", "write what is missing "+
			"there, if analysts need them; else nothing")
	}
	for _, what := range quote.Uncertified(snapshot, p) {
		f.add(finding.Warning, f.under(p, "assume"), what, "a secret moves how answers spread as well as their "+
			"means, and many answers add that up", "take a smaller budget, or write answers: twin, which has no "+
			"covariances")
	}
	for _, t := range p.Tables {
		if d := only(snapshot, t); d != nil {
			f.add(finding.Note, f.in(p, t.At), fmt.Sprintf("%s answers one statement, and no other: that of the "+
				"model %s, of which the distribution is declared", t.Qualified(), d.Name), "what else its rows could "+
				"tell is not in the declaration", "nothing, if that one is enough; other statements need a reference")
		}
	}

	// Without the assumption noise has to hide what coupled datasets can differ by.
	coupled := func(t policy.Table) bool { return noisy(t) && t.Link == nil && only(snapshot, t) == nil }
	if !p.Accepts(policy.Translation) && slices.ContainsFunc(p.Tables, coupled) {
		f.add(finding.Note, f.under(p, "assume"), "the assumption translation is not accepted, so noise rests on "+
			"bounds for coupled datasets: there is more of it, and secret means are refused", "that F only moves, "+
			"and keeps its form, is then not taken for granted", "nothing, or accept it: assume: [translation], if "+
			"the reference is like the table but for the secret")
	}
}

// checkReference notes rows of the reference that are in no group, or that stand in it more than once, joins of which
// it says too little, and what becomes of epsilon if it misleads.
func (h *house) checkReference(ctx context.Context, f *findings, p *policy.Policy) error {
	room := h.room(p.Database)
	outside, err := room.snapshot.Undeclared(ctx, p, room.reader)
	if err != nil {
		return err
	}
	for _, u := range outside {
		f.domain(p, u)
	}
	repeated, err := room.snapshot.Repeated(ctx, p, room.reader)
	if err != nil {
		return err
	}
	for _, r := range repeated {
		f.add(finding.Note, f.table(p, r.Table), fmt.Sprintf("%d of the %d rows of %s's reference have a key (%s) "+
			"that stands there more than once", r.Rows, r.Of, r.Table, r.Columns),
			"several rows of one subject are taken for independent ones, and the model for surer than it is",
			"give one row of each subject")
	}
	joined, err := room.snapshot.Joined(ctx, p, room.reader)
	if err != nil {
		return err
	}
	for _, j := range joined {
		f.add(finding.Note, f.table(p, j.Table.String()), fmt.Sprintf("joins of %s with %s over %s have noise for "+
			"whatever that could say of %d values, whoever may write to it", j.Table, j.To, j.Columns, j.Values),
			"an analyst who writes to an ordinary table chooses by it which rows are counted",
			fmt.Sprintf("copy the columns by which statements group or select into %s and its reference", j.Table))
	}

	// What becomes of the promise if the reference is not the truth, and what it costs to promise that, too.
	misled, err := fitting.Misled(ctx, room.snapshot.Snapshot, room.reader, p)
	if err != nil {
		return err
	}
	for _, what := range misled {
		f.add(finding.Note, f.under(p, "privacy", "estimation"), what, "a reference is a sample, and the law that "+
			"noise is made for is only near the true one", "take a larger reference, write privacy.estimation, or "+
			"answer from a twin; nothing, if the reference is believed")
	}
	return nil
}

// domain tells how a declared domain and the reference differ.
func (f *findings) domain(p *policy.Policy, u dataset.Undeclared) {
	// It is found where the domain stands, or the table at least.
	at := f.table(p, u.Table)
	for _, t := range p.Tables {
		for _, d := range t.GroupBy {
			if t.Qualified().String() == u.Table && d.Column == u.Column {
				at = f.in(p, d.At)
			}
		}
	}

	if u.Rows > 0 {
		f.add(finding.Note, at, fmt.Sprintf("%d of the %d rows of %s's reference have a value of %s "+
			"outside of its group_by", u.Rows, u.Of, u.Table, u.Column), "such rows are in no group of it",
			"add their values to the domain, unless their presence is sensitive")
	}
	if u.Unseen > 0 {
		f.add(finding.Warning, at, fmt.Sprintf("%d of the %d values of %s in group_by stand in no "+
			"row of %s's reference", u.Unseen, u.Values, u.Column, u.Table), "how the secret moves such groups "+
			"nothing says: noise hides one row more in them, and the promise does not hold for many",
			"declare the values alone that the reference has, or take a reference with rows of all of them")
	}
}

// table is where a policy has a table, by the name that it goes by in findings.
func (f *findings) table(p *policy.Policy, name string) place {
	for _, t := range p.Tables {
		if t.Qualified().String() == name {
			return f.in(p, t.At)
		}
	}
	return f.under(p, "tables")
}

// knownTotals says what Fugu cannot find out: who knows a total of the table exactly sees by an answer beside it what
// the noise was, and takes it off the rest.
func knownTotals(p *policy.Policy) (what, why, fix string) {
	const belongs = "every total of a protected table that an analyst may know exactly belongs under public"
	why = "answers beside such a total give the secret away (docs/threat-model.md)"
	fix = "look through reports, ordinary tables and published figures, and declare the totals there under public"
	if len(p.Public) == 0 {
		return "the policy declares no public statistics: " + belongs, why, fix
	}
	return belongs, why, fix
}

// budget says who shares in a policy's budget, and what its renewal gives up.
func (f *findings) budget(p *policy.Policy) {
	b := p.Privacy.Budget
	of := func(b privacy.Budget) string {
		return fmt.Sprintf("epsilon %v, delta %v", float64(b.Epsilon), float64(b.Delta))
	}

	at := f.under(p, "privacy", "budget")
	note := func(format string, args ...any) {
		f.add(finding.Note, at, fmt.Sprintf(format, args...), "analysts may put together what they were told, so "+
			"that what is promised is promised of all answers together", "nothing, if that is what you mean to "+
			"promise; else change privacy.budget")
	}
	note("the budget of everybody together is %s", of(privacy.Budget{Epsilon: b.Epsilon, Delta: b.Delta}))
	f.meaning(p, privacy.Budget{Epsilon: b.Epsilon, Delta: b.Delta})

	// Shares are limits below the one budget, and add nothing to it.
	if s := b.Shares; s != nil {
		for _, u := range s.Users {
			note("share of user %q below it: %s", u.Name, of(u.Limit))
		}
		for _, g := range s.Groups {
			note("share of group %q (%s) below it: %s", g.Name, strings.Join(g.Members, ", "), of(g.Limit))
		}
		if s.Default != nil {
			note("share of each other user below it: %s", of(*s.Default))
		}
	} else if b.Per == policy.PerUser {
		note("budget.per is user: each user has an account of his own below it, and no more than it")
	}

	// A budget that begins anew gives something up, of which the owner is told what.
	if gives := b.Renewal(); gives != "" {
		f.add(finding.Warning, f.under(p, "privacy", "budget", "renew"), fmt.Sprintf("dataset %s: %s", p.Dataset,
			gives), "the secret is the same in the next period, and what was told of it stays told",
			"leave renew out; or keep it, if you accept what it gives up")
	}
	if p.Epoch.Label != "" {
		f.add(finding.Note, f.under(p, "epoch"), fmt.Sprintf("the data are those of epoch %s, drawn %sly of any before",
			p.Epoch.Label, p.Epoch.Draw), "answers of before are counted against this epoch unless it is drawn "+
			"independently, which is the owner's word", "nothing, if that is so; fugu epoch tells of the epochs "+
			"there were")
	}
}
