package class

import (
	"reflect"
	"testing"

	"fugu/parser"
	"fugu/policy"
	"fugu/twin"
)

// Each class has a condition on the twin's columns; there is none where these do not tell a row's class.
func TestConditions(t *testing.T) {
	ill := twin.Secret{Secret: policy.Secret{Name: "ill", Proportion: "mark > 3"}, Nullable: true}
	kind := twin.Secret{Secret: policy.Secret{Name: "kind", Categories: "kind"},
		Values: []policy.Value{{Text: "o'k"}, {IsNull: true}}}
	sexes := &twin.Public{Columns: []string{"sex"}, Cells: []twin.Cell{{Values: []policy.Value{{Text: "f"}}, Rows: 9}}}
	spec := twin.Spec{Secrets: []twin.Secret{ill, kind}, Public: sexes}
	got, err := Conditions(spec, []string{"kind", "mark", "sex"})
	if err != nil || len(got) != 6 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range map[int]parser.Class{
		0: {Name: "sex=f, ill=true, kind='o'k'", Where: `"sex" = 'f' AND (mark > 3) AND "kind" = 'o''k'`},
		3: {Name: "sex=f, ill=false, kind=null", Where: `"sex" = 'f' AND (mark > 3) IS FALSE AND "kind" IS NULL`},
		4: {Name: "sex=f, ill=null, kind='o'k'", Where: `"sex" = 'f' AND (mark > 3) IS NULL AND "kind" = 'o''k'`},
	} {
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("class %d: %+v, want %+v", i, got[i], want)
		}
	}

	if got, err := Conditions(spec, []string{"kind", "sex"}); err != nil || got != nil {
		t.Errorf("without the column of a secret: %+v, %v", got, err)
	}
	ill.Proportion = "mark > (SELECT limit FROM limits)"
	spec.Secrets = []twin.Secret{ill}
	if got, err := Conditions(spec, []string{"mark", "sex"}); err == nil || got != nil {
		t.Errorf("a condition that PostgreSQL does not read: %+v, %v", got, err)
	}
	spec.Secrets[0].Proportion = "mark > (SELECT most FROM limits)"
	if got, err := Conditions(spec, []string{"mark", "most", "sex"}); err != nil || got != nil {
		t.Errorf("another table: %+v, %v", got, err)
	}
}

// What tells a row's class reads a column wherever its name stands, and all of them if it reads whole rows.
func TestReads(t *testing.T) {
	for condition, want := range map[string]bool{
		"sex = 'f'": true, "age > 3 AND lower(p.sex) = 'f'": true, "EXISTS (SELECT FROM o WHERE o.x = sex)": true,
		"(people).sex = 'f'": true, "people IS NOT NULL": true, "public.people IS NULL": true,
		"row_to_json(people)::text ~ 'f'": true, "(SELECT true FROM (SELECT people.*) x)": true,
		"age > 3": false, "people.age > 3": false, "(SELECT count(*) FROM o) > age": false, "kind = 'sex'": false,
	} {
		spec := twin.Spec{Secrets: []twin.Secret{{Secret: policy.Secret{Name: "s", Proportion: condition}}}}
		if got, err := Reads(spec, "people", "sex"); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", condition, got, err, want)
		}
	}
	spec := twin.Spec{Secrets: []twin.Secret{{Secret: policy.Secret{Name: "s", Proportion: "age > 3"}}},
		Public: &twin.Public{Columns: []string{"sex"}, Cells: []twin.Cell{{Values: []policy.Value{{Text: "f"}}}}}}
	if got, err := Reads(spec, "people", "sex"); err != nil || !got {
		t.Errorf("a public count: %v, %v", got, err)
	}
	if _, err := Reads(twin.Spec{Secrets: []twin.Secret{{Secret: policy.Secret{Proportion: "age >"}}}}, "people",
		"sex"); err == nil {
		t.Error("half a condition is read")
	}
}
