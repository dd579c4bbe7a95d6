package quote

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Places are kept as the numbers that ledgers have always had: components from 0 up, -1 for what the model has none of,
// and public values from -2 down. What a ledger holds is read as it was meant.
func TestPlacesAreKeptAsNumbers(t *testing.T) {
	s := Stored{Index: []Place{componentAt(0), nowhere, publicAt(0), componentAt(7), publicAt(1)},
		Public: []string{"12", "5"}}
	b, err := json.Marshal(s)
	if want := `{"Index":[0,-1,-2,7,-3],"Public":["12","5"],"Release":null}`; err != nil || string(b) != want {
		t.Fatalf("kept as %s, %v, not %s", b, err, want)
	}
	var read Stored
	if err := json.Unmarshal(b, &read); err != nil || !reflect.DeepEqual(read, s) {
		t.Errorf("read as %+v, %v", read, err)
	}
}

// A place is in one kind, and within an answer that has so many values of that kind.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		place             Place
		component, public int // -1: it is none
		within            bool
	}{
		{componentAt(0), 0, -1, true}, {componentAt(1), 1, -1, true}, {componentAt(2), 2, -1, false},
		{nowhere, -1, -1, true},
		{publicAt(0), -1, 0, true}, {publicAt(2), -1, 2, true}, {publicAt(3), -1, 3, false},
	} {
		k, isComponent := c.place.Component()
		i, isPublic := c.place.Public()
		if isComponent != (c.component >= 0) || isComponent && k != c.component || isPublic != (c.public >= 0) ||
			isPublic && i != c.public {
			t.Errorf("place %d: component %d %v, public %d %v", c.place, k, isComponent, i, isPublic)
		}
		if c.place.Within(2, 3) != c.within {
			t.Errorf("place %d within 2 components and 3 public values: %v", c.place, !c.within)
		}
	}
}

// What follows from the rest, and what only this process knows, is not kept.
func TestWhatIsNotKept(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{JointPart{Table: "t"}, `{"Table":"t","Digest":"","Terms":null,"Noise":null,"Rounding":0,"Alone":null}`},
		{CovarianceTerms{Bytes: []byte("x")}, `{"covariances":null}`},
	} {
		if b, err := json.Marshal(c.value); err != nil || string(b) != c.want {
			t.Errorf("%s, %v, not %s", b, err, c.want)
		}
	}
	b, err := json.Marshal(Layer{Most: map[string]float64{"count": 1}})
	var fields map[string]any
	if err == nil {
		err = json.Unmarshal(b, &fields)
	}
	if _, most := fields["Most"]; err != nil || most || fields["Over"] != nil {
		t.Errorf("a layer is kept as %s, %v", b, err)
	}
}
