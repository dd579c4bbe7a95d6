package quote

import (
	"regexp"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/sqlstate"
)

// NoParameter is the error about a parameter that the client has given no value.
func NoParameter(n int) error {
	return sqlstate.New(sqlstate.UndefinedParameter, "there is no parameter $%d", n)
}

// Text returns the text form of parameter n, whose value came in one of PostgreSQL's formats: one text for one value,
// so that the same statement with the same parameters is known again. nil is NULL.
func Text(types *pgtype.Map, n int, oid uint32, format int16, value []byte) ([]byte, error) {
	if value == nil {
		return nil, nil
	}

	// A type that is not known here keeps the text that the client wrote.
	t, ok := types.TypeForOID(oid)
	if !ok {
		if format == pgtype.TextFormatCode {
			return value, nil
		}
		return nil, sqlstate.New(sqlstate.FeatureNotSupported, "parameter $%d cannot be sent in binary on protected "+
			"data", n).WithHint("Send it as text.")
	}

	// It is decoded and written again, so that one value has one text. The value itself stays out of the error's text.
	bad := sqlstate.New(sqlstate.InvalidTextRepr, "invalid input for parameter $%d of type %s", n, t.Name)
	if format == pgtype.TextFormatCode {
		value = dateTime(oid, value)
	}
	v, err := t.Codec.DecodeValue(types, oid, format, value)
	if err != nil {
		return nil, bad.Because(err)
	}
	text, err := types.Encode(oid, pgtype.TextFormatCode, v, nil)
	if err != nil || text == nil {
		return nil, bad.Because(err)
	}
	return text, nil
}

// isoTime is ISO 8601 as drivers write it, in the years that every form of a date shares, to the microsecond at most.
var isoTime = regexp.MustCompile(
	`^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[-+][0-9]{2}:[0-9]{2})?)?$`)

// dateTime writes a date or time that a driver sent in ISO 8601 as PostgreSQL itself writes it, and leaves other text
// as it is. Like PostgreSQL (manual, section 8.5.1), it overlooks the zone of a timestamp without one and the time of a
// date; a timestamp with time zone that names no zone is the session's matter, and left.
func dateTime(oid uint32, text []byte) []byte {
	if !isoTime.Match(text) {
		return text
	}

	var at time.Time
	var err error
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", time.DateTime,
		time.DateOnly} {
		if at, err = time.Parse(layout, string(text)); err == nil {
			// The layouts with a zone name an instant; without one a timestamp with time zone is the session's matter.
			zoned := layout == time.RFC3339 || layout == "2006-01-02 15:04:05Z07:00"
			switch {
			case oid == pgtype.DateOID:
				return at.AppendFormat(nil, time.DateOnly)
			case oid == pgtype.TimestampOID:
				return at.AppendFormat(nil, "2006-01-02 15:04:05.999999")
			case oid == pgtype.TimestamptzOID && zoned:
				return at.UTC().AppendFormat(nil, "2006-01-02 15:04:05.999999+00")
			}
			return text
		}
	}
	return text
}
