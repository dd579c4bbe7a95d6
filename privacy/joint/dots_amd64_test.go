package joint

import "testing"

// A processor without such vectors computes the same.
func TestDotsWithoutVectors(t *testing.T) {
	before := fused
	fused = false
	defer func() { fused = before }()
	TestDots(t)
	TestAgainstDefinitions(t)
}
