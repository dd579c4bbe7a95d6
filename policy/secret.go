package policy

// Secret is a property of a whole table whose value stays hidden: exactly one of Proportion, Mean, Categories and
// Parameter. Its pairs, the values that must not be told apart, are Spans, for categories either Vectors or Range, and
// all pairs of values of a parameter. Secrets of one table are all parameters or none is.
type Secret struct {
	Name       string
	Table      QualifiedName // one of the policy's Tables
	About      About
	Proportion string // SQL predicate over the table's columns; not parsed here
	Mean       string // SQL expression over the table's columns; not parsed here
	Categories string // column, one of the table's GroupBy, whose vector of proportions is secret
	Parameter  string // of the table's Network

	Spans   []Span
	Listed  bool // Spans are listed pairs: their ends, and nothing between them
	Vectors [][2][]Share
	Range   *SimplexRange

	At         Position // the secret's name in the file
	PropertyAt Position // the first character of the predicate, expression or column in the file
}

// About says whose property a secret is.
type About string

// The values of about.
const (
	AboutDataset      About = "dataset"      // the value that the table's rows have
	AboutDistribution About = "distribution" // the parameter of the distribution from which the rows were drawn
)

// Span stands for every pair of values in [From, To] that lie at most Within apart: From < To, 0 < Within ≤ To-From, up
// to rounding in float64; all finite. Of a proportion, 0 ≤ From and To ≤ 1; a mean's are in the expression's units.
type Span struct {
	From, To, Within float64
}

// Share is the proportion of one category; of those that a vector does not list it is 0.
type Share struct {
	Category   Value
	Proportion float64
}

// SimplexRange stands for every pair of vectors of proportions that add up to 1, each proportion in [From, To], of
// which one becomes the other when at most the share Within of the rows changes its category: their total variation
// distance. 0 ≤ From < To ≤ 1 and 0 < Within ≤ 1.
type SimplexRange struct {
	From, To, Within float64
}
