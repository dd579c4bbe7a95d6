package integration

import (
	"testing"

	"fugu/test/policies"
	"fugu/test/serving"
	"fugu/twin/build"
)

// buildTwins builds what the text of a policy asks for: see serving.BuildTwins.
func buildTwins(t testing.TB, keeperDSN, text string, k build.Keeper, o build.Options) []build.Report {
	t.Helper()
	reports, err := serving.BuildTwins(t.Context(), keeperDSN, policies.Load(t, text), k, o)
	if err != nil {
		t.Fatal(err)
	}
	return reports
}
