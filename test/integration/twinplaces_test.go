package integration

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/patient"
)

// An error in a text that names a twin is told where the client wrote it, in either protocol, whether the text was read
// or is known by its shape.
func TestTwinErrorPlaces(t *testing.T) {
	patient.Test(t)
	_, through, _ := serveCensus(t)
	c, err := pgconn.Connect(t.Context(), through)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	for _, sql := range []string{
		"SELECT age FROM adult WHERE sex = 'Male' AND age = 1 AND nosuch = 1",
		"SELECT age FROM adult WHERE sex = 'éé, a longer one' AND age = 1000000 AND nosuch = 1",
		"SELECT 'é' FROM public.adult a JOIN adult b USING (age) WHERE nosuch = 1",
		"SELECT 'éééé' FROM public.adult a JOIN adult b USING (age) WHERE nosuch = 1",
		"SELECT 1; SELECT age FROM public.adult; SELECT 'é' FROM adult WHERE nosuch = 1",
	} {
		want := utf8.RuneCountInString(sql[:strings.Index(sql, "nosuch")]) + 1
		var simple, extended *pgconn.PgError
		_, err := c.Exec(t.Context(), sql).ReadAll()
		if !errors.As(err, &simple) || simple.Code != "42703" || int(simple.Position) != want {
			t.Errorf("%s: %v at %d, want %d", sql, err, simple.Position, want)
		}
		if strings.Contains(sql, ";") {
			continue
		}
		_, err = c.Prepare(t.Context(), "", sql, nil)
		if !errors.As(err, &extended) || extended.Code != "42703" || int(extended.Position) != want {
			t.Errorf("%s, prepared: %v at %d, want %d", sql, err, extended.Position, want)
		}
	}
}
