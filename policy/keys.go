package policy

// keys are the known keys of each section of a policy file. A section under a name of the writer's choice has * there.
var keys = map[string][]string{
	"": {"version", "dataset", "database", "tables", "networks", "secrets", "assume", "privacy",
		"epoch", "analysts", "fit", "declared", "public", "estimates"},
	"estimates": {"prior"},
	"tables.*":  {"rows", "reference", "drawn", "plain_rows", "group_by", "link", "answers", "twin"},
	"tables.*.twin": {"rows", "drop", "at_least", "known_rows", "unit", "independent_rows", "smallest",
		"columns"},
	"tables.*.twin.columns.*":           {"obfuscate", "transport"},
	"tables.*.twin.columns.*.obfuscate": {"epsilon", "delta"},
	"tables.*.twin.columns.*.transport": {"hide", "target", "cost"},

	"tables.*.link":           {"to", "on"},
	"tables.*.group_by.*":     {"from", "to", "by"},
	"networks.*":              {"independent", "parameters"},
	"networks.*.parameters.*": {"column", "values", "parents", "probabilities"},
	"secrets.*":               {"table", "about", "proportion", "mean", "categories", "parameter", "values", "pairs"},
	"secrets.*.values":        {"from", "to", "within"},
	"declared.*":              {"statement", "components", "secrets"},
	"declared.*.secrets.*": {"values", "means", "covariances", "samples", "weights",
		"concentrated"},
	"declared.*.secrets.*.concentrated": {"within", "but_for"},
	"public.*":                          {"statement", "values"},
	"privacy": {"epsilon", "delta", "mechanism", "estimation", "weights", "model", "composition",
		"error", "max_error", "budget"},
	"privacy.estimation":   {"delta"},
	"privacy.model":        {"within"},
	"privacy.model.within": {"eta", "rows", "lambda"},
	"privacy.budget":       {"epsilon", "delta", "per", "shares", "renew"},

	"privacy.budget.shares":          {"users", "groups", "default"},
	"privacy.budget.shares.users.*":  {"epsilon", "delta"},
	"privacy.budget.shares.groups.*": {"members", "epsilon", "delta"},
	"privacy.budget.shares.default":  {"epsilon", "delta"},
	"epoch":                          {"label", "draw"},
}

// The words that a value may be, by the path of the key.
var words = map[string][]string{
	"tables.*.plain_rows": {string(DenyRows), string(ReferenceRows)},
	"tables.*.group_by.*.by": {string(Day), string(Week), string(Month), string(Quarter),
		string(Year)},
	"tables.*.drawn":                           {string(Independently), string(FromReference)},
	"tables.*.answers":                         {string(ByAnswerNoise), string(FromTwin)},
	"tables.*.twin.rows":                       {string(ShowRows), string(Aggregate)},
	"tables.*.twin.columns.*.transport.target": {string(Pooled)},
	"tables.*.twin.columns.*.transport.cost":   {string(Absolute)},
	"secrets.*.about":                          {string(AboutDataset), string(AboutDistribution)},
	"assume":                                   {string(Translation), string(Gaussian), string(Exchangeable)},
	"privacy.mechanism": {"auto", "expm-laplace", "expm-gaussian", "directional", "wasserstein",
		"approximate-wasserstein",
		"no-noise", "eigm", "daum", "optimal-gaussian", "apgm", "markov-quilt"},
	"privacy.composition": {string(ByNoise), string(Jointly)},
	"privacy.weights": {string(SamplingWeights), string(AbsoluteWeights), string(RelativeWeights),
		string(TotalWeights)},
	"estimates.prior":    {string(AnswerEstimates), string(ReferenceEstimates)},
	"privacy.budget.per": {string(PerDataset), string(PerUser)},
	"epoch.draw":         {string(DependentDraw), string(IndependentDraw)},
}

// The mechanisms that need a delta above 0, those that count the randomness of normally distributed statistics, and
// those whose noise has no normal part.
var (
	laplaceAlone = []string{"expm-laplace", "wasserstein", "approximate-wasserstein", "markov-quilt"}

	needDelta  = append([]string{"expm-gaussian", "directional"}, needNormal...)
	needNormal = []string{"no-noise", "eigm", "daum", "optimal-gaussian", "apgm"}
)
