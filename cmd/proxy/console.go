package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"fugu/admin/console"
	"fugu/ledger"
	"fugu/policy"
	previewing "fugu/preview"
	"fugu/sqlstate"
)

// keeperPages is what the console shows. It hands on what fugu budget, check, preview and twin show say of the same
// things: prices, promises and models, and of protected rows nothing.
type keeperPages struct {
	office *office

	mu       sync.Mutex
	of       *house                       // that the rest was made for
	previews map[*room]*previewing.Desk   // by room
	expected map[string]console.Twin      // by table: what the policy alone says of its twin
	drawn    map[string][]console.Picture // by dataset
}

// pages answer for the console.
func (o *office) pages() http.Handler {
	return console.Handler(console.Options{Token: o.token, Health: o.health, Figures: o.figures,
		Source: &keeperPages{office: o}, Version: built().Version, Log: o.log})
}

// house is what is in force. What was made for another one is forgotten.
func (k *keeperPages) house() *house {
	h := k.office.stands.Load()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of != h {
		k.of, k.previews = h, map[*room]*previewing.Desk{}
		k.expected, k.drawn = map[string]console.Twin{}, map[string][]console.Picture{}
	}
	return h
}

// books is the ledger to look at.
func (k *keeperPages) books() (ledger.Manager, error) {
	if b := k.office.house.books; b != nil {
		return b, nil
	}
	return nil, &console.Problem{Message: "There is no policy, and so no ledger.",
		Hint: "fugu init writes a policy for a table."}
}

// desk is where statements about a room's database are previewed. Its searches for noise have the limits that those of
// clients have, together with them.
func (k *keeperPages) desk(r *room) (*previewing.Desk, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d := k.previews[r]; d != nil {
		return d, nil
	}
	d, err := previewing.New(r.snapshot.Snapshot, r.reader, k.office.house.ledger)
	if err != nil {
		return nil, err
	}
	d.Share(k.office.databases.Searches())
	k.previews[r] = d
	return d, nil
}

// problem is what operators are told of an error: what a client would be, and of anything else nothing. Its cause may
// hold what a database said.
func problem(err error) *console.Problem {
	e := sqlstate.As(err)
	return &console.Problem{Code: string(e.Code), Message: fmt.Sprintf("%s: %s", e.Code, e.Message), Hint: e.Hint}
}

// meanings are what codes of refusals stand for.
var meanings = map[sqlstate.Code]string{
	sqlstate.NotAnswerable:        "not answerable on protected data",
	sqlstate.BudgetExhausted:      "the budget does not cover it",
	sqlstate.NotAllowed:           "not allowed by the policy",
	sqlstate.ModelUnfit:           "a model or twin is missing or unfit",
	sqlstate.StatisticsFailed:     "the statistics statement failed",
	sqlstate.TooManySearches:      "too many large statements at a time",
	sqlstate.SyntaxError:          "it cannot be parsed",
	sqlstate.UndefinedColumn:      "it names a column that is not there",
	sqlstate.UndefinedTable:       "it names a table that is not there",
	sqlstate.UndefinedFunction:    "it calls a function or operator that is not there for such types",
	sqlstate.InvalidTextRepr:      "a constant is not of the type that it is compared with",
	sqlstate.UndefinedParameter:   "it names a parameter that is not there",
	sqlstate.SerializationFailure: "the data were replaced meanwhile",
	sqlstate.CannotConnectNow:     "the ledger, or the policy of these data, was not there",
}

// policyOf finds a policy by its dataset; nil: it is not in force any more.
func (k *keeperPages) policyOf(dataset string) *policy.Policy {
	for _, p := range k.house().policies {
		if p.Dataset == dataset {
			return p
		}
	}
	return nil
}

// Curve implements console.Source.
func (k *keeperPages) Curve(ctx context.Context, statement string) (console.Curve, error) {
	h := k.house()
	if h.twinsApart() {
		return console.Curve{}, &console.Problem{Message: "All tables are answered from twins, at no price.",
			Hint: "The page of twins says how far counts are off."}
	}

	// A statement is priced in the first room that knows its tables.
	none := &console.Problem{Message: "There is no policy, so nothing is answered with noise."}
	var said error = none
	for _, r := range h.rooms {
		if len(r.policies) == 0 {
			continue
		}
		c, err := k.curve(ctx, r, statement)
		if err == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			return c, err
		}

		// A room that knows the tables says more than one to which they are strange.
		if said == none || previewing.Strange(said) {
			said = err
		}
	}
	if said == none {
		return console.Curve{}, said
	}
	return console.Curve{}, problem(said)
}
