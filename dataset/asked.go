package dataset

import (
	"encoding/json"

	"fugu/model"
	"fugu/planner"
)

// cutKey identifies what a cut asks for, however it was spelled.
func cutKey(c *planner.Bound) (string, error) {
	text, err := json.Marshal(DescribeCut(c))
	return string(text), err
}

// AskedCut is all that a cut asks for.
type AskedCut struct {
	Statistics string
	Aggregates []AskedAggregate
	Cells      []planner.Cell
	Totals     any
}

// AskedAggregate is one of its aggregates.
type AskedAggregate struct {
	Name  string
	Terms []int  // their places among the sums of Statistics
	Type  string // above: a sum of integers is released as a whole number

	Domain []planner.Value `json:",omitempty"` // the values that count, where they are public
}

// DescribeCut is what a cut asks for, but for the totals of its classes.
func DescribeCut(c *planner.Bound) AskedCut {
	out := AskedCut{Statistics: c.Statistics(), Cells: c.Cells}
	for _, a := range c.Aggregates {
		asked := AskedAggregate{Name: a.Name, Terms: a.Terms, Type: a.Type}
		if a.Sampled != nil {
			asked.Domain = a.Sampled.Domain
		}
		out.Aggregates = append(out.Aggregates, asked)
	}
	return out
}

// Components lists the components of a cut's F with their names, as if every cell could be modelled.
func Components(c *planner.Bound) (list []model.Component, names []string) {
	for cell := range c.Cells {
		for a, agg := range c.Aggregates {
			list = append(list, model.Component{Cell: cell, Aggregate: a})
			names = append(names, Label{agg.Label, c.GroupKey(c.Cells[cell])}.String())
		}
	}
	return list, names
}

// Label says what a component of F is.
type Label struct{ Column, Group string }

// String names a component.
func (l Label) String() string {
	if l.Group == "" {
		return l.Column
	}
	return l.Column + " at " + l.Group
}
