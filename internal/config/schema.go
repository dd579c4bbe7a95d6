package config

import _ "embed"

// Schema is the JSON Schema (draft 2020-12) of fugu.yaml, by which editors complete and check it while it is written. A
// test makes it of the decoder's keys and of docs/policy.md.
//
//go:embed config.schema.json
var Schema []byte
