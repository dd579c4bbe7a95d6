//go:build fuguhooks

package attack

import (
	"testing"

	"fugu/internal/hook"
)

// 1.0 and 1.00 are one group, and GROUP BY calls it what its first row has. Of the hundred customers from number 400 on
// all have a high income in one world, and none in the other: the group has a name of the key's, and its rows, in one
// of them alone.
func TestGroupNames(t *testing.T) {
	const sql = `SELECT CASE WHEN income = 'high' THEN 1.0 ELSE 1.00 END AS name, count(*)
		FROM customer WHERE id BETWEEN 400 AND 499 GROUP BY 1`
	game{
		off:    []*bool{&hook.FirstRows},
		policy: []string{"region: [north, east, south, west, remote]", "income: [high, low]"},
		tries:  9,
		guess: func(a analyst) float64 {
			n, _ := number(a.t, a.conn, "SELECT sum(count) FROM ("+sql+") g")
			return 400 + n
		},
	}.play(t)
}
