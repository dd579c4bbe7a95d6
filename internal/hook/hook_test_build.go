//go:build fuguhooks

// Package hook, built for tests: each defence is a variable.
package hook

// ZeroNoise makes every release exact.
var ZeroNoise bool

// BlankRelease makes every released value 0.
var BlankRelease bool

// The defences of the attack suite; hook.go says what each undoes.
var (
	Blind           bool
	NoStored        bool
	NoCharge        bool
	FreeFailures    bool
	OpenSearches    bool
	LongSearches    bool
	ScansCounted    bool
	OpenPlaces      bool
	NoGrid          bool
	FreeLosses      bool
	ChargeLate      bool
	StaleStatements bool
	ModelFromData   bool
	Overdraft       bool
	Apart           bool
	NoFloor         bool
	RowErrors       bool
	DearRows        bool
	AsSpelled       bool
	FirstRows       bool
	NoClamp         bool
	FloatSums       bool
	CoarseNoise     bool
	NoStart         bool
	RawErrors       bool
	ReaderPath      bool
	ReaderIndexes   bool
	ReadLazily      bool
	LooseSnapshot   bool
	EarlyEnd        bool
	Unlooked        bool
	SortedForFree   bool
	UnpaidTexts     bool
	LooseSets       bool
	Promiseless     bool
	NoCovariances   bool
	GuestCode       bool
)

// The defences of twins; hook.go says what each undoes.
var (
	TwinOneMore    bool
	TwinOfCounts   bool
	TwinTableOrder bool
	TwinOldKeys    bool
	TwinRedraw     bool
	TwinByContent  bool
	TwinNoNoise    bool
	TwinClampFirst bool
	TwinPartners   bool
	TwinUnbounded  bool
	TwinForgetful  bool

	TwinColumnsAnew    bool
	TwinColumnsByPlace bool
	TwinColumnsByRow   bool

	TwinSmallGroups bool
	TwinSingleRows  bool
)

// Unmasked shows the catalog's sizes and statistics as PostgreSQL has them, and lets code through that Fugu cannot see.
var Unmasked bool
