//go:build fuguhooks

package main

import (
	"slices"
	"testing"

	"fugu/test/patient"
)

// A proxy that writes what it hears into log and metrics is found out, for what clients write and for what is true.
func TestCanariesPlanted(t *testing.T) {
	patient.Test(t)
	c, _ := administered(t, faultEnv+"="+talkative)
	seen, unseen := c.sing(t)
	for _, where := range []string{"metrics", "log"} {
		got := found(seen[where], unseen)
		for _, canary := range []string{canaryWord, unseen[0]} {
			if !slices.Contains(got, canary) {
				t.Errorf("%s is not found in the %s", canary, where)
			}
		}
	}
}
