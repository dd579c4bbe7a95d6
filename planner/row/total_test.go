package row

import (
	"errors"
	"flag"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"fugu/sqlstate"
	"fugu/test/patient"
)

var expressions = flag.Int("expressions", 3000, "random expressions that the total forms are tried on")
var seed = flag.Uint64("seed", 1, "of the random expressions")

// On every row an expression's total form has the value that PostgreSQL gives it, and never an error: on rows that
// PostgreSQL fails on it is NULL or, for integers, what a wider type would hold.
func TestTotal(t *testing.T) {
	patient.Test(t)
	s := connect(t)
	g := gen{rand.New(rand.NewPCG(*seed, 2))}
	refused, failing, values := map[string]int{}, 0, 0
	for range *expressions {
		s.tryExpression(t, g.any(1+g.IntN(4)), refused, &failing, &values)
		if t.Failed() && *expressions <= 5000 {
			break
		}
	}
	n := 0
	for _, c := range refused {
		n += c
	}
	t.Logf("%d expressions: %d refused, %d fail on some row, %d values compared", *expressions, n, failing, values)
	if *expressions >= 1000 && (n > *expressions/5 || failing < *expressions/10 || values < *expressions) {
		t.Errorf("too little is tried: %v", refused)
	}
}

func (s *server) tryExpression(t *testing.T, e string, refused map[string]int, failing, values *int) {
	t.Helper()
	x, err := parse(e)
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	form, err := s.bind(t.Context(), Root{Expr: x})
	var known *sqlstate.Error
	switch {
	case errors.As(err, &known) && known.Code != sqlstate.InternalError:
		refused[string(known.Code)+" "+known.Message]++
		return
	case err != nil:
		t.Fatalf("%s: %v", e, err)
	}

	r := s.ExecParams(t.Context(), "SELECT t.id::text, t.ordinary::text, ("+form+")::text, public.attempt($1, t.id) "+
		"FROM public.x AS t ORDER BY t.id", [][]byte{[]byte(e)}, nil, nil, nil).Read()
	if r.Err != nil {
		t.Errorf("%s\nfails: %v\nas %s", shorten(e), r.Err, shorten(form))
		return
	}

	failed := false
	for _, row := range r.Rows {
		want := string(row[3])
		failed = failed || strings.HasPrefix(want, "ERROR")
		if string(row[1]) != "true" || strings.HasPrefix(want, "ERROR") {
			continue
		}
		have := "NULL"
		if row[2] != nil {
			have = "=" + string(row[2])
		}
		*values++
		if !same(have, want) {
			t.Errorf("%s\nrow %s: got %s, want %s\nas %s", shorten(e), row[0], have, want, shorten(form))
			return
		}
	}

	if failed {
		*failing++
	}
}

var decimal = regexp.MustCompile(`^=-?[0-9.]+(e[-+]?[0-9]+)?$`)

// same compares values as text, and numbers up to the digits that PostgreSQL rounds quotients to.
func same(have, want string) bool {
	if have == want {
		return true
	}
	if !decimal.MatchString(have) || !decimal.MatchString(want) {
		return false
	}
	a, ok1 := new(big.Rat).SetString(have[1:])
	b, ok2 := new(big.Rat).SetString(want[1:])
	if !ok1 || !ok2 {
		return false
	}
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d).Cmp(new(big.Rat).Mul(new(big.Rat).Abs(b), big.NewRat(1, 1e12))) <= 0
}
