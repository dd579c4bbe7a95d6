package policy

// keys are the known keys of each section of a policy file. A section under a name of the writer's choice has * there.
var keys = map[string][]string{
	"":                    {"version", "dataset", "tables", "secrets", "assume", "privacy", "analysts"},
	"tables.*":            {"rows", "reference", "plain_rows", "group_by", "link"},
	"tables.*.link":       {"to", "on"},
	"tables.*.group_by.*": {"from", "to"},
	"secrets.*":           {"table", "proportion", "mean", "categories", "values", "pairs"},
	"secrets.*.values":    {"from", "to", "within"},
	"privacy":             {"epsilon", "delta", "mechanism", "budget"},
	"privacy.budget":      {"epsilon", "delta", "per"},
}

// The words that a value may be, by the path of the key.
var words = map[string][]string{
	"tables.*.plain_rows": {string(DenyRows), string(ReferenceRows)},
	"assume":              {string(Translation), string(Gaussian)},
	"privacy.mechanism":   {"auto", "expm-laplace", "expm-gaussian", "directional"},
	"privacy.budget.per":  {string(PerDataset), string(PerUser)},
}
