package model

import (
	"context"
	"reflect"
	"strconv"
	"testing"

	"fugu/planner"
)

// rowsOf is a database whose every answer is the same.
type rowsOf struct {
	planner.Querier
	rows [][]planner.Value
}

func (l rowsOf) Query(context.Context, string, [][]byte, []uint32) ([][]planner.Value, error) {
	return l.rows, nil
}

// A reference that was copied has its rows in other places, and the same numbers: what an account counted stays true.
func TestPlacesOutliveACopy(t *testing.T) {
	table := &planner.Table{Secrets: []planner.Secret{{Name: "s", Column: "c", Classes: []planner.Value{{Text: "x"},
		{Text: "y"}}}}}
	row := func(place int, digest, label string) []planner.Value {
		return []planner.Value{{Text: "1"}, {Text: strconv.Itoa(place)}, {Text: digest}, {Text: label}}
	}
	one, err := ReadPlaces(t.Context(), rowsOf{rows: [][]planner.Value{row(1, "b", "y"), row(2, "a", "x"),
		row(3, "b", "y"), row(4, "c", "z")}}, table)
	if err != nil {
		t.Fatal(err)
	}
	two, err := ReadPlaces(t.Context(), rowsOf{rows: [][]planner.Value{row(7, "c", "z"), row(8, "b", "y"),
		row(9, "b", "y"), row(5, "a", "x")}}, table)
	if err != nil {
		t.Fatal(err)
	}
	if one.Digest != two.Digest || !reflect.DeepEqual(one.Sample, two.Sample) ||
		!reflect.DeepEqual(one.Sample.Classes["s"], []int16{0, 1, 1, -1}) {
		t.Errorf("%+v and %+v", one, two)
	}

	if other, err := ReadPlaces(t.Context(), rowsOf{rows: [][]planner.Value{row(1, "b", "y"), row(2, "a", "x"),
		row(3, "b", "y"), row(4, "d", "z")}}, table); err != nil || other.Digest == one.Digest {
		t.Errorf("another row: %v", err)
	}
	if _, err := ReadPlaces(t.Context(), rowsOf{rows: [][]planner.Value{row(1, "b", "y"), row(1, "a", "x")}},
		table); err == nil {
		t.Error("two rows in one place")
	}
}
