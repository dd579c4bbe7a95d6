package build

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// PostgreSQL finds in the sieve the rows that were put in, and no others but those whose number ends alike: of keys of
// every size and sign.
func TestSieve(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	if err := c.CreateDatabase(t.Context(), "sieve", ""); err != nil {
		t.Fatal(err)
	}
	conn, err := Connect(t.Context(), c.DSN("postgres", "sieve"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })

	r := rand.New(rand.NewChaCha8([32]byte{5}))
	for _, rows := range []int64{1, 300, 20_000} {
		numbers, put := []int64{math.MinInt64, math.MaxInt64, 0, -1, math.MinInt32, 1023, 1024}, newSieve(rows)
		for i := range int64(2000) {
			numbers = append(numbers, int64(r.Uint64()), i-1000)
		}
		of := map[int64]bool{}
		for i, n := range numbers {
			if i%7 == 0 {
				put.add(n)
				of[n&maskOf(rows)] = true
			}
		}

		var found []int64
		sql := `SELECT array_agg("fugu id") FROM unnest($4::int8[]) AS t("fugu id")
			WHERE ($1::bytea || ($2::bytea[])[1] || $3::bytea) IS NULL OR ` + mayBeTaken(rows)
		if err := conn.QueryRow(t.Context(), sql, []byte{}, [][]byte{{}}, []byte(put), numbers).Scan(
			&found); err != nil {
			t.Fatal(err)
		}
		seen := map[int64]bool{}
		for _, n := range found {
			seen[n] = true
		}
		for _, n := range numbers {
			if seen[n] != of[n&maskOf(rows)] {
				t.Fatalf("%d rows: %d is in the sieve: %v", rows, n, seen[n])
			}
		}
		if len(found) == len(numbers) {
			t.Errorf("%d rows: all numbers are in the sieve", rows)
		}
	}
}
