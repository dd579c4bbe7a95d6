package account_test

import (
	"testing"

	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }
