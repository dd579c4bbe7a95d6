package quote

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// The expected texts are what PostgreSQL 15 shows for the same text, cast to the type in a session in UTC.
func TestDateTime(t *testing.T) {
	for _, c := range []struct {
		oid        uint32
		text, want string
	}{
		{pgtype.TimestamptzOID, "2024-01-01T00:00:00.000Z", "2024-01-01 00:00:00+00"},
		{pgtype.TimestamptzOID, "2024-06-30T23:59:59.999Z", "2024-06-30 23:59:59.999+00"},
		{pgtype.TimestamptzOID, "2024-03-10T01:30:00+02:00", "2024-03-09 23:30:00+00"},
		{pgtype.TimestamptzOID, "2024-03-10 01:30:00.25-05:30", "2024-03-10 07:00:00.25+00"},
		{pgtype.TimestampOID, "2024-06-30T23:59:59.999", "2024-06-30 23:59:59.999"},
		{pgtype.TimestampOID, "2024-06-30T23:59:59.999+05:00", "2024-06-30 23:59:59.999"},
		{pgtype.TimestampOID, "2024-06-30", "2024-06-30 00:00:00"},
		{pgtype.DateOID, "2024-06-30T23:59:59.999Z", "2024-06-30"},
		// Left as they are: what the session's time zone decides, what is no date, and other types.
		{pgtype.TimestamptzOID, "2024-06-30T23:59:59", "2024-06-30T23:59:59"},
		{pgtype.TimestamptzOID, "2024-06-30", "2024-06-30"},
		{pgtype.TimestampOID, "2024-02-30T00:00:00Z", "2024-02-30T00:00:00Z"},
		{pgtype.TimestampOID, "2024-06-30T23:59:59.1234567", "2024-06-30T23:59:59.1234567"},
		{pgtype.TimestampOID, "0024-06-30T23:59:59", "0024-06-30T23:59:59"},
		{pgtype.TextOID, "2024-06-30T23:59:59Z", "2024-06-30T23:59:59Z"},
	} {
		if got := string(dateTime(c.oid, []byte(c.text))); got != c.want {
			t.Errorf("%d %s is %s, want %s", c.oid, c.text, got, c.want)
		}
	}
}
