//go:build !fuguhooks

// Package hook names the defences that a test may switch off, to show that an attack then succeeds or that nothing but
// noise stands between an answer and the truth. In every build without the tag fuguhooks they are constants, so that
// the compiler removes each hook: no configuration, flag or environment variable of a product binary can reach one.
// Points, at which a test kills the process, are functions that do nothing.
package hook

// ZeroNoise makes every release exact.
const ZeroNoise = false

// BlankRelease makes every released value 0: what two sets of protected rows still differ in went round the noise.
const BlankRelease = false

// The defences of the attack suite, by the package whose work each undoes.
const (
	Blind           = false // pipeline: every statement is ordinary
	NoStored        = false // pipeline: a statement that was answered before is answered anew
	NoCharge        = false // pipeline: answers cost nothing
	FreeFailures    = false // pipeline: a statement that failed on its rows costs nothing
	OpenSearches    = false // pipeline: there is room for any number of searches for noise
	LongSearches    = false // pipeline: a search for noise may take ten minutes
	ScansCounted    = false // parser/shadow: counters of reads are shown of ordinary tables
	OpenPlaces      = false // answer: one user's statements may have all of the reader's connections
	NoGrid          = false // pipeline: an answer leaves as soon as it is there
	FreeLosses      = false // answer: a question whose connection was lost amid its scan is scanned again for nothing
	ChargeLate      = false // pipeline: a statement is charged when its answer is known, and none that is canceled
	StaleStatements = false // pipeline: a statement outlives the policy that it was prepared under
	ModelFromData   = false // pipeline: the protected rows are their own reference
	Overdraft       = false // ledger: a charge does not look at what is left
	Apart           = false // ledger: budgets of users add up to no total
	NoFloor         = false // mechanism: noise along the secrets' directions alone
	RowErrors       = false // planner/row: expressions are evaluated as they are written, and fail on rows
	DearRows        = false // planner/row: an expression may take as long for a row as it likes
	AsSpelled       = false // planner/row: another spelling is another question
	FirstRows       = false // planner: a group is called what its first row has
	NoClamp         = false // planner: a row may contribute to a sum without bound
	FloatSums       = false // planner: terms are summed as floating-point numbers
	CoarseNoise     = false // mechanism: noise comes in whole numbers, and releases with many digits
	NoStart         = false // upstream: what no row supports has no value
	RawErrors       = false // upstream: errors of the reader's reach the client as they are
	ReaderPath      = false // upstream: the reader looks in public before pg_catalog
	ReaderIndexes   = false // upstream: the reader may scan indexes
	ReadLazily      = false // planner, upstream: tables are read as far, and as often, as rows look into them
	LooseSnapshot   = false // upstream: ordinary tables may change while a statement is answered
	EarlyEnd        = false // upstream: the reader's transaction ends as soon as its rows are read
	Unlooked        = false // model: whoever writes a statement has not looked at the reference
	SortedForFree   = false // model: what few values are sorted into cannot have been chosen
	UnpaidTexts     = false // model: whatever is asked was fixed before the reference was drawn
	LooseSets       = false // model: nothing is known of how averages over several sets of groups vary together
	Promiseless     = false // account: answers are charged, whatever those before were to hide
	NoCovariances   = false // pipeline: charges count means alone, and not how a secret changes covariances
	GuestCode       = false // upstream, planner/row: guests' own tables and types, whose code runs as the reader
)

// The defences of twins: each is a mistake in twin/build.
const (
	TwinOneMore    = false // a row more of each class is taken than its law allows
	TwinOfCounts   = false // rows stand for the true counts of their class
	TwinTableOrder = false // the first rows of the table are taken
	TwinOldKeys    = false // keys of the protected table stay
	TwinRedraw     = false // each build has an order of drawing of its own
	TwinByContent  = false // the order of drawing is by what rows hold
	TwinNoNoise    = false // the true counts are told
	TwinClampFirst = false // the true count is clamped, and noise comes after it
	TwinPartners   = false // ordinary tables that each protected row has a row of may be read beside its twin
	TwinUnbounded  = false // noise is not truncated, and sizes are as if it were
	TwinForgetful  = false // what was told of the same rows by other classes, or under other names, is not looked at

	TwinColumnsAnew    = false // each copy of a row, in each build, has a draw of its own for what a column shows
	TwinColumnsByPlace = false // what a column shows is drawn by where a row stands
	TwinColumnsByRow   = false // what a column shows is drawn by the row's number alone, whatever it holds

	TwinSmallGroups = false // groups of a twin are shown however few rows are in them
	TwinSingleRows  = false // an aggregate of a twin may be of any expression, over any join: one row may count alone
)

// Unmasked shows the catalog's sizes and statistics as PostgreSQL has them, and lets code through that Fugu cannot see.
const Unmasked = false
