package main

// knownDifference is one that is meant.
type knownDifference struct {
	part, test, reason string
	until              int // the last major version of PostgreSQL from which it differs; 0: every one does
}

// known are the differences that are meant, each with its reason. One that is not seen fails the comparison: the list
// holds nothing that is not needed.
var known = []knownDifference{
	{"pgx .", "TestConnSimpleProtocolRefusesNonStandardConformingStrings", "standard_conforming_strings is pinned " +
		"on: with it off, Fugu's parser and the server would read a text differently", 0},
	{"pgx .", "TestConnSimpleProtocolRefusesNonUTF8ClientEncoding", "client_encoding is pinned to UTF8, for the same " +
		"reason", 0},
	{"pgx pgconn", "TestConnectProtocolVersion32", "Fugu speaks protocol 3.2, with its long cancel keys, also in " +
		"front of a server that does not", 17},
}

// knownOf are those of a part, at a major version of PostgreSQL, by test.
func knownOf(part string, major int) map[string]string {
	out := map[string]string{}
	for _, k := range known {
		if k.part == part && (k.until == 0 || major <= k.until) {
			out[k.test] = k.reason
		}
	}
	return out
}
