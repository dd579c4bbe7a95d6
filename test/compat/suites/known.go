package main

// known are the differences that are meant, each with its reason. One that is not seen fails the comparison: the list
// holds nothing that is not needed.
var known = []struct{ part, test, reason string }{
	{"pgx .", "TestConnSimpleProtocolRefusesNonStandardConformingStrings", "standard_conforming_strings is pinned on: with it off, Fugu's parser and the server would read a text differently"},
	{"pgx .", "TestConnSimpleProtocolRefusesNonUTF8ClientEncoding", "client_encoding is pinned to UTF8, for the same reason"},
}

func knownReason(part, test string) (reason string, ok bool) {
	for _, k := range known {
		if k.part == part && k.test == test {
			return k.reason, true
		}
	}
	return "", false
}
