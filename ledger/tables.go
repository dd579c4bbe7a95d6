package ledger

// exportFormat is the version of what Export writes: a line of JSON with the format and the columns of all tables, one
// for each row, and one that says how many rows there were and how the audit chain ends.
const exportFormat = 1

// exportLine is a line of an export. Exactly one of its parts is there.
type exportLine struct {
	Format int        `json:"fugu_ledger,omitempty"`
	Tables [][]string `json:"tables,omitempty"` // with Format: each table's name and its columns
	Table  string     `json:"table,omitempty"`
	Row    []any      `json:"row,omitempty"` // with Table: numbers, texts; bytes in base64
	End    *exportEnd `json:"end,omitempty"`
}

type exportEnd struct {
	Rows   int64  `json:"rows"`
	Number int64  `json:"number"`
	Hash   string `json:"hash"`
}

// table is a table of the schema, which both databases have alike.
type table struct {
	name    string
	columns []column // of which the first is the key, if paged
	paged   bool     // its rows are read and written some at a time
}

type column struct {
	name string
	kind kind
}

type kind int

const (
	integer kind = iota
	float
	characters
	octets
)

// tables are all tables, in an order in which none refers to a later one.
var tables = []table{
	{"answers", []column{
		{"id", integer}, {"key", characters}, {"dataset", characters}, {"scope", characters}, {"at", integer},
		{"epsilon", float}, {"delta", float}, {"mechanism", characters}, {"assumption", characters},
		{"failed", integer},
		{"cells", characters}, {"bytes", octets}, {"certificates", characters}, {"sealed", integer}, {"epoch", integer},
		{"begun", integer}}, true},
	{"terms", []column{{"answer", integer}, {"bytes", octets}, {"sealed", integer}}, true},
	{"charges", []column{
		{"id", integer}, {"answer", integer}, {"scope", characters}, {"secret", characters}, {"user", characters},
		{"at", integer}, {"pure", float}, {"kappa2", float}, {"delta", float}, {"period", integer}}, true},
	{"totals", []column{
		{"dataset", characters}, {"scope", characters}, {"secret", characters}, {"pure", float}, {"kappa2", float},
		{"delta", float}, {"releases", integer}, {"period", integer}}, false},
	{"audit", []column{{"number", integer}, {"entry", characters}, {"hash", characters}}, true},
	{"epochs", []column{
		{"id", integer}, {"dataset", characters}, {"number", integer}, {"label", characters}, {"independent", integer},
		{"user", characters}, {"reason", characters}, {"at", integer}}, true},
	{"periods", []column{
		{"dataset", characters}, {"number", integer}, {"began", integer}, {"at", integer}, {"reason", characters}},
		false},
	{"compacted", []column{
		{"answer", integer}, {"key", characters}, {"content", characters}, {"entry", integer}}, true},
	{"promises", []column{
		{"entry", integer}, {"dataset", characters}, {"period", integer}, {"table", characters}, {"at", integer},
		{"bytes", octets}, {"sealed", integer}}, true},
}

// exportHead is the first line of an export.
func exportHead() exportLine {
	l := exportLine{Format: exportFormat}
	for _, t := range tables {
		names := []string{t.name}
		for _, c := range t.columns {
			names = append(names, c.name)
		}
		l.Tables = append(l.Tables, names)
	}
	return l
}
