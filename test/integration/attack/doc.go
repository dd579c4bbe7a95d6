// Package attack attacks Fugu as an analyst would. Two worlds differ only in a secret proportion that the policy does
// not let anybody tell apart: 400 or 500 of 2000 customers have a high income. Each test is one attack. It is run
// against a Fugu with one defence switched off, where it must tell the worlds apart, and against Fugu as it is, where
// it must not.
//
// There are two ways for it to fail. What Fugu does not draw noise for must not depend on protected rows at all: with
// every released value blanked, all bytes that a client receives are the same in both worlds (see channel). What noise
// protects is measured: the attacker guesses the world in many independent trials, and may be right no more often than
// the budget allows (see game).
//
// The tests need the build tag fuguhooks: go test -tags fuguhooks fugu/test/integration/attack. docs/attacks.md lists
// them.
package attack
