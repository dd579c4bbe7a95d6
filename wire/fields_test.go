package wire

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// fieldsAgree holds what is read in place against pgproto3, which decodes: the same messages are good, except that
// those with bytes to spare are not, and the same texts are in them.
func fieldsAgree(t *testing.T, body []byte) {
	t.Helper()
	decoded := func(m interface {
		pgproto3.FrontendMessage
		Encode([]byte) ([]byte, error)
	}) bool {
		if m.Decode(body) != nil {
			return false
		}
		again, err := m.Encode(nil)
		return err == nil && len(again) == header+len(body) // nothing to spare
	}
	check := func(name string, want bool, err error, texts ...[2]string) {
		t.Helper()
		if (err == nil) != want {
			t.Errorf("%s %q: %v, and pgproto3 says %v", name, body, err, want)
		}
		for _, pair := range texts {
			if err == nil && pair[0] != pair[1] {
				t.Errorf("%s %q: %q, and pgproto3 says %q", name, body, pair[0], pair[1])
			}
		}
	}
	var q pgproto3.Query
	sql, err := queryFields(body)
	check("Query", decoded(&q), err, [2]string{string(sql), q.String})
	var p pgproto3.Parse
	good := decoded(&p)
	name, sql, types, err := parseFields(body)
	var want []byte
	for _, oid := range p.ParameterOIDs {
		want = binary.BigEndian.AppendUint32(want, oid)
	}
	check("Parse", good, err, [2]string{string(name), p.Name}, [2]string{string(sql), p.Query},
		[2]string{string(types), string(want)})
	var b pgproto3.Bind
	good = decoded(&b)
	portal, statement, err := bindFields(body)
	check("Bind", good, err, [2]string{string(portal), b.DestinationPortal}, [2]string{string(statement),
		b.PreparedStatement})
	var e pgproto3.Execute
	good = decoded(&e)
	portal, err = executeFields(body)
	check("Execute", good, err, [2]string{string(portal), e.Portal})
	var d pgproto3.Describe
	good = decoded(&d)
	kind, name, err := objectFields(body)
	check("Describe", good, err, [2]string{string(kind), string(d.ObjectType)}, [2]string{string(name), d.Name})
	var c pgproto3.Close
	good = decoded(&c)
	_, name, err = objectFields(body)
	check("Close", good, err, [2]string{string(name), c.Name})
}

func fieldSeeds(t testing.TB) (out [][]byte) {
	for _, m := range []interface{ Encode([]byte) ([]byte, error) }{
		&pgproto3.Query{String: "SELECT 1"}, &pgproto3.Query{},
		&pgproto3.Parse{Name: "s", Query: "SELECT $1", ParameterOIDs: []uint32{23, 25}}, &pgproto3.Parse{},
		&pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "s", ParameterFormatCodes: []int16{1},
			Parameters: [][]byte{nil, {}, []byte("x")}, ResultFormatCodes: []int16{0, 1}}, &pgproto3.Bind{},
		&pgproto3.Execute{Portal: "p", MaxRows: 5}, &pgproto3.Describe{ObjectType: 'S', Name: "s"},
		&pgproto3.Close{ObjectType: 'P'},
	} {
		b, err := m.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b[header:])
	}
	return out
}

// Every seed, every beginning of one, and every one with a byte more or another byte in it.
func TestFieldsAgreeWithPgproto3(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, body := range fieldSeeds(t) {
		for n := range len(body) + 1 {
			fieldsAgree(t, body[:n])
			for range 20 {
				other := bytes.Clone(body)
				if n < len(body) {
					other[n] = byte(random.Uint32() >> (random.Uint32() % 9)) // small ones more often
				} else {
					other = append(other, byte(random.Uint32()))
				}
				fieldsAgree(t, other)
			}
		}
	}
}

func FuzzFields(f *testing.F) {
	for _, body := range fieldSeeds(f) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) { fieldsAgree(t, body) })
}
