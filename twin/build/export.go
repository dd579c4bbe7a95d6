package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
	"fugu/sqlstate"
	"fugu/twin"
)

// Certificate says what a dump of twins is and what it promises. It is made of the policy and of what the builds have
// published: nothing in it is of the protected tables.
type Certificate struct {
	Dataset string          `json:"dataset"`
	Fugu    string          `json:"fugu_version"`
	Policy  string          `json:"policy_fingerprint"`
	Dump    Dump            `json:"dump"`
	Twins   []CertifiedTwin `json:"twins"`
}

// Dump is the file that a certificate is of.
type Dump struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// CertifiedTwin is one table with secrets, and those linked to it.
type CertifiedTwin struct {
	Table       string            `json:"table"`
	Built       time.Time         `json:"built"`
	Nth         int               `json:"draw"` // how often counts were drawn for it
	Epsilon     float64           `json:"epsilon"`
	Delta       float64           `json:"delta"`
	Mechanism   string            `json:"mechanism"`
	Secrets     []CertifiedSecret `json:"secrets"`
	Assumptions []string          `json:"assumptions"`
	KnownRows   int64             `json:"known_rows"`
	Classes     []CertifiedClass  `json:"classes"`
	Columns     []ShownColumn     `json:"columns_shown_row_by_row,omitempty"`
	Tables      []CertifiedTable  `json:"tables"`
	Left        []string          `json:"left_out,omitempty"` // what of the twins the dump does not have
}

// CertifiedSecret is what cannot be told from a twin.
type CertifiedSecret struct {
	Name  string   `json:"name"`
	Of    string   `json:"of"`
	About string   `json:"about"`
	Pairs []string `json:"pairs"`
}

// CertifiedClass is what a twin tells of one class of rows.
type CertifiedClass struct {
	Class   string  `json:"class"`
	Told    int64   `json:"told"`  // rows of the twin, by the noisy count
	Share   float64 `json:"share"` // of all rows told
	Sampled int64   `json:"sampled_rows"`
}

// CertifiedTable is one table of the dump.
type CertifiedTable struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	Sampled int64    `json:"sampled_rows,omitempty"` // different rows among them; none: they come with those of another
}

// Exporter writes twins for somebody who never sees the database.
type Exporter struct {
	Conn     *pgx.Conn // to where the twins are, as their owner, from Connect
	Apart    bool      // Conn is of the kind of Keeper.Target
	Fugu     string    // the version that exports
	Progress func(Step)
}

// Export writes the twins of a dataset to w, as SQL that makes them, under the names of their tables, in an empty
// database. It looks at no row but those of the twins; what there is to say about these the certificate has, but for
// the file.
func (e *Exporter) Export(ctx context.Context, p *policy.Policy, w io.Writer) (c Certificate, err error) {
	c = Certificate{Dataset: p.Dataset, Policy: p.Fingerprint, Fugu: e.Fugu}
	var families [][]policy.Table
	for _, t := range p.Tables {
		if t.Answers != policy.FromTwin || t.Link != nil {
			continue
		}
		if err := shown(p, t); err != nil {
			return c, err
		}
		families = append(families, familyOf(p, t))
	}
	if len(families) == 0 {
		return c, fmt.Errorf("no table of dataset %s has a twin (answers: twin)", p.Dataset)
	}

	// All that is written is of one moment.
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, e.Conn, options, func(tx pgx.Tx) error {
		return e.export(ctx, place{tx: tx, apart: e.Apart}, p, families, w, &c)
	})
	if err != nil {
		return c, fmt.Errorf("exporting the twins of %s: %w", p.Dataset, err)
	}
	return c, nil
}

// export is Export within its transaction.
func (e *Exporter) export(ctx context.Context, at place, p *policy.Policy, families [][]policy.Table,
	w io.Writer, c *Certificate) error {
	all, err := e.hold(ctx, at, families)
	if err != nil {
		return err
	}

	// Each family is described by the twins' own catalog, and certified by the law that they were built by.
	var tables []dumped
	rows := int64(0)
	for _, family := range families {
		described, left, err := at.describeTwins(ctx, family)
		if err != nil {
			return err
		}
		certified, err := certify(p, family, all)
		if err != nil {
			return err
		}
		certified.Left = left
		for i := range described {
			d, t := &described[i], &certified.Tables[i]
			for _, c := range d.columns {
				t.Columns = append(t.Columns, c.name)
			}
			d.rows = t.Rows
			rows += t.Rows
		}
		c.Twins = append(c.Twins, certified)
		tables = append(tables, described...)
	}

	types, err := typesSQL(ctx, at.tx, tables)
	if err != nil {
		return err
	}

	title := "Twins of the dataset " + p.Dataset + ", made by Fugu: copies of a sample of the rows, in which what " +
		"is secret is blurred.\n" +
		"What is promised stands in the certificate beside this file. Restore it with: psql -f THIS_FILE DATABASE"
	e.say(0, "writing rows")
	err = at.dump(ctx, w, title, types, tables, func(done int64) {
		e.say(min(1, float64(done)/float64(max(rows, 1))), fmt.Sprintf("writing rows, %d of %d", min(done, rows), rows))
	})
	if err != nil {
		return err
	}
	e.say(1, "done")
	return nil
}

func (e *Exporter) say(done float64, what string) {
	if e.Progress != nil {
		e.Progress(Step{done, what})
	}
}

// hold keeps builds out for the rest of the transaction, before this looks at anything, and returns what is said of the
// twins.
func (e *Exporter) hold(ctx context.Context, at place, families [][]policy.Table) ([]Twin, error) {
	// A scan that joins another one in the middle would write the rows in another order each time.
	if _, err := at.tx.Exec(ctx, `SET LOCAL synchronize_seqscans = off`); err != nil {
		return nil, fmt.Errorf("asking for rows in order: %w", err)
	}

	e.say(0, "waiting for a build of twins, if one goes on")
	_, err := at.tx.Exec(ctx, `LOCK TABLE `+registry+` IN SHARE MODE`)
	if is(err, sqlstate.UndefinedTable) || is(err, sqlstate.InvalidSchemaName) {
		return nil, errors.New("a twin is not built: run fugu twin build")
	} else if err != nil {
		return nil, fmt.Errorf("locking the list of twins: %w", err)
	}

	for _, family := range families {
		for _, t := range family {
			there, err := exists(ctx, at.tx, at.name(t.Qualified()))
			if err != nil {
				return nil, fmt.Errorf("looking for the twin of %s: %w", t.Qualified(), err)
			}
			if !there {
				return nil, fmt.Errorf("the twin of %s is not built: run fugu twin build", t.Qualified())
			}
		}
	}
	return Twins(ctx, at.tx)
}

// certify says what is promised of the twins of a family, if the policy is that which they were built by.
func certify(p *policy.Policy, family []policy.Table, all []Twin) (c CertifiedTwin, err error) {
	root := family[0]
	for _, t := range family {
		i := slices.IndexFunc(all, func(x Twin) bool { return x.Schema == t.Schema && x.Table == t.Name })
		if i < 0 || all[i].Dataset != p.Dataset {
			return c, fmt.Errorf("%s is no twin that was built for dataset %s: run fugu twin "+
				"build", t.Qualified(), p.Dataset)
		}

		x := all[i]
		c.Tables = append(c.Tables, CertifiedTable{Table: t.Qualified().String(), Rows: x.Rows})
		if t.Name != root.Name || t.Schema != root.Schema {
			continue
		}
		c.Tables[len(c.Tables)-1].Sampled = x.Sampled

		// What is promised is said of the root; its design is the law that was drawn by.
		design, err := designOf(p, root, x.Law)
		if err != nil {
			return c, err
		}
		c.Assumptions = assumptions(root, design.Public())
		c.Table, c.Built, c.Nth, c.Columns = t.Qualified().String(), x.Built, x.Nth, x.Columns
		c.Epsilon, c.Delta, c.Mechanism = x.Epsilon, x.Delta, design.String()

		told := int64(0)
		for _, n := range x.Told {
			told += n
		}
		for i, class := range x.Classes {
			c.Classes = append(c.Classes, CertifiedClass{class, x.Told[i], float64(x.Told[i]) / float64(told),
				x.Taken[i]})
		}
	}

	c.KnownRows = root.Twin.KnownRows
	for _, s := range p.Secrets {
		if s.Table == root.Qualified() {
			c.Secrets = append(c.Secrets, secretInWords(s))
		}
	}
	return c, nil
}

// designOf is the law that a twin was built by, if it is the policy's still.
func designOf(p *policy.Policy, root policy.Table, law string) (*twin.Design, error) {
	spec, ok, err := specOf(p, root, law)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New("the policy's secrets, ranges, rows or privacy are not those that the twin was built " +
			"by: a certificate would not be true of it. Bring that policy back, or build the twin anew")
	}
	return twin.New(spec)
}

// assumptions are what a twin rests on, in words.
func assumptions(root policy.Table, public *twin.Public) []string {
	out := []string{"exchangeable: within a class the rows are exchangeable, and their law is the same under both " +
		"values of a pair"}
	if public != nil {
		out = append(out, "public: everybody may know exactly how many rows have each value of "+
			strings.Join(public.Columns, ", ")+"; given that, rows are drawn independently")
	}

	if root.Twin.IndependentRows {
		out = append(out, "independent_rows: the owner accepts that several rows of one subject are drawn "+
			"independently")
	}
	if root.Twin.Smallest > 0 {
		of := "rows"
		if public != nil {
			of = "rows of its public cell"
		}
		out = append(out, fmt.Sprintf("smallest: every class has a share of %g of the %s or more, which everybody "+
			"may know", root.Twin.Smallest, of))
	}

	// What nobody may know is said last, also where it is none.
	known := "known_rows: who sees the twin knows no row of the table for certain"
	if n := root.Twin.KnownRows; n > 0 {
		known = fmt.Sprintf("known_rows: who sees the twin knows at most %d rows of the table for certain", n)
	}

	other := "no statistic"
	if public != nil {
		other = "no other statistic"
	}
	return append(out, known, other+" of the table is known exactly beside the twin")
}

// secretInWords says which values of a secret cannot be told from each other.
func secretInWords(s policy.Secret) CertifiedSecret {
	out := CertifiedSecret{Name: s.Name, Of: "the share of rows with " + s.Proportion, About: string(s.About)}
	if s.Categories != "" {
		out.Of = "the shares of the values of " + s.Categories
	}

	for _, x := range s.Spans {
		if s.Listed {
			out.Pairs = append(out.Pairs, fmt.Sprintf("%g or %g", x.From, x.To))
		} else {
			out.Pairs = append(out.Pairs, fmt.Sprintf("any two from %g to %g that are at most %g "+
				"apart", x.From, x.To, x.Within))
		}
	}
	for _, v := range s.Vectors {
		out.Pairs = append(out.Pairs, sharesInWords(v[0])+" or "+sharesInWords(v[1]))
	}

	// Between vectors there is no order: how many rows change says how far they are apart.
	if r := s.Range; r != nil {
		out.Pairs = append(out.Pairs, fmt.Sprintf("any two with all shares from %g to %g, of which one becomes the "+
			"other when at most %g of the rows change", r.From, r.To, r.Within))
	}
	return out
}

func sharesInWords(shares []policy.Share) string {
	words := make([]string, len(shares))
	for i, s := range shares {
		words[i] = fmt.Sprintf("%s: %g", s.Category.Text, s.Proportion)
	}
	return "{" + strings.Join(words, ", ") + "}"
}
