package policy

import _ "embed"

// Schema is the JSON Schema (draft 2020-12) of policy files, by which editors complete and check them while they are
// written. A test makes it of the decoder's keys and words and of docs/policy.md. What no schema can say, that a table
// is there or a range is not empty, Load says.
//
//go:embed policy.schema.json
var Schema []byte
