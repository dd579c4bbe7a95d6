package pipeline

import (
	"fugu/dataset"
	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
)

// template is one statement of a text as it is planned, for every session alike. At most one of plan, plain, execute,
// masked and show is set; with none the text is the client's own.
type template struct {
	twins  []*dataset.Protected // that the statement means, beside whatever else it is
	serial uint64               // tells it from all others of the snapshot
	text   string
	params int      // of the client's
	types  []uint32 // that the client gave for them
	plan   *planner.Plan
	policy *policy.Policy // of the plan's cuts, or of plain; nil for virtual tables only
	masked bool           // text masks parts of the catalog
	places parser.Places  // of masked: where the parts of text stood in the client's
	// of masked: text stands for all that the client sent, and this is how; nil: there is more to it
	splice *parser.Splice
	start  int32              // of the client's own text: characters before it in what the client sent
	show   bool               // text tells a setting of Fugu's, in the place of SHOW
	plain  *dataset.Protected // a plain SELECT of rows: text reads the reference instead

	prepare bool            // text is PREPARE of the plan, and asks nothing yet
	execute *parser.Execute // EXECUTE of what will be found when it is bound
	explain parser.Explain  // of execute
	// not empty: text takes no parameters, so that values are written into it; this looks at it before
	probe  string
	noData bool // nothing is asked

	source string // the client's text of the plan
	means  string // what its names meant, as meanings.key has it

	fingerprint string // of the client's text, in the audit
}

// size is how many bytes a template keeps alive, about; the client's text counts in each, though they share it.
func (t template) size() int {
	n := 6*structBytes + len(t.text) + 4*len(t.types) + len(t.probe) + len(t.source) + len(t.means) +
		len(t.fingerprint) + 8*len(t.twins) + t.places.Size()
	if t.plan != nil {
		n += t.plan.Size()
	}
	if t.splice != nil {
		n += t.splice.Size()
	}
	if t.execute != nil {
		n += t.execute.Size()
	}
	return n
}

func templatesSize(of []template) (n int) {
	for _, t := range of {
		n += t.size()
	}
	return n
}
