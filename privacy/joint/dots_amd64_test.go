package joint

import (
	"testing"

	"fugu/test/patient"
)

// A processor without such vectors computes the same.
func TestDotsWithoutVectors(t *testing.T) {
	patient.Test(t)
	before := fused
	fused = false
	defer func() { fused = before }()
	TestDots(t)
	TestAgainstDefinitions(t)
}
