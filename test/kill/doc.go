// Package kill holds the tests of what happens to budgets and answers when something dies or fails on the way of an
// answer, at each point of that way in turn: the proxy, the ledger's server, the network between, the disk. The fugu
// under test is the program itself, built with the tag fuguhooks, whose points internal/hook describes.
//
// Whatever fails and wherever, the following hold, and the tests check them after each fault:
//
//   - of what a client has received, every row is of an answer that was in the ledger, paid for, at that moment;
//   - the statement, asked again, has the reply of which the client has received the beginning, byte for byte;
//   - it was charged once, whether it was asked once or three times;
//   - the ledger's own audit finds nothing: totals are the sums of the charges, and the chain tells of each.
package kill
