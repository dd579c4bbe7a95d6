// Package pipeline is a client's session, from a statement to what the guest is sent for it: session.go says which are
// ordinary, plan.go how the others are planned, once for every session alike, and bind.go how one binding is answered.
// It implements wire.Engine on the one side, and hands a question about protected rows to package answer on the other:
//
//	parser.Statement -> planner.Plan (F) -> answer.Question -> ledger.Answer -> parameters of the rewritten statement
//
// What goes to a client is made from a ledger.Answer only, that is, from a Release that was charged.
package pipeline
