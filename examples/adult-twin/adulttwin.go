// Package adulttwin holds the files of this directory's example for Go programs: the people of examples/adult,
// answered from a twin. It runs nothing; load.sh does the same without Go.
package adulttwin

import _ "embed"

var (
	//go:embed adult-twin.sql
	Keeper string // the role that builds twins, after examples/adult's Schema

	//go:embed adult-twin.policy.yaml
	Policy string
)
