// Package pipeline is the corridor from a statement to its answer: answer.go reads from top to bottom. It implements
// wire.Engine on the one side and calls parser, planner, model, sensitivity, mechanism, ledger and upstream on the
// other, each once and in this order:
//
//	parser.Statement -> planner.Plan (F) -> model.Moments -> sensitivity.Shift -> mechanism.Calibration
//	  -> upstream.Statistics -> mechanism.Release -> ledger.Answer -> the parameters of the rewritten statement
//
// What goes to a client is made from a ledger.Answer only, that is, from a Release that was charged.
package pipeline
