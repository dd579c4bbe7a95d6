// Package sqlstate is the catalogue of the error codes that Fugu itself raises, and the one error type that carries
// them to a client. Codes and field meanings are PostgreSQL's (manual, appendix A and section 55.8); class PV is ours.
//
// It is a leaf. It does not format protocol messages: wire does.
package sqlstate

import (
	"errors"
	"fmt"
	"strings"
)

// Code is a five-character SQLSTATE.
type Code string

// Codes of class PV, Fugu's own.
const (
	NotAnswerable    Code = "PV001" // not answerable on protected data
	BudgetExhausted  Code = "PV002" // the privacy budget does not cover the statement
	NotAllowed       Code = "PV003" // not allowed by policy
	ModelUnfit       Code = "PV004" // model missing or unfit
	StatisticsFailed Code = "PV005" // statistics statement failed; details withheld
)

// PostgreSQL's codes that Fugu raises itself.
const (
	SuccessfulCompletion     Code = "00000"
	Warning                  Code = "01000"
	ConnectionFailure        Code = "08006"
	ProtocolViolation        Code = "08P01"
	FeatureNotSupported      Code = "0A000"
	NumericValueOutOfRange   Code = "22003"
	CharacterNotInRepertoire Code = "22021"
	InvalidParameterValue    Code = "22023"
	InvalidTextRepr          Code = "22P02"
	InvalidAuthorization     Code = "28000"
	InvalidPassword          Code = "28P01"
	InvalidCatalogName       Code = "3D000"
	SerializationFailure     Code = "40001"
	IdleInTransaction        Code = "25P03"
	SyntaxError              Code = "42601"
	UndefinedColumn          Code = "42703"
	AmbiguousColumn          Code = "42702"
	InsufficientPrivilege    Code = "42501"
	UndefinedTable           Code = "42P01"
	InvalidSchemaName        Code = "3F000"
	UndefinedParameter       Code = "42P02"
	GroupingError            Code = "42803"
	DatatypeMismatch         Code = "42804"
	WrongObjectType          Code = "42809"
	UndefinedFunction        Code = "42883"
	InvalidColumnReference   Code = "42P10"
	DependentObjectsExist    Code = "2BP01"
	UniqueViolation          Code = "23505"
	LockNotAvailable         Code = "55P03"
	UndefinedObject          Code = "42704"
	TooManyConnections       Code = "53300"
	TooManySearches          Code = "53400"
	ProgramLimitExceeded     Code = "54000"
	StatementTooComplex      Code = "54001"
	QueryCanceled            Code = "57014"
	AdminShutdown            Code = "57P01"
	CannotConnectNow         Code = "57P03"
	InternalError            Code = "XX000"
	IdleSessionTimeout       Code = "57P05"
	InvalidSQLStatementName  Code = "26000"
)

// ForbidsLogin reports whether a code is of class 28: a server does not let somebody in.
func (c Code) ForbidsLogin() bool {
	return strings.HasPrefix(string(c), string(InvalidAuthorization[:2]))
}

// Error is an error that may be shown to a client: nothing in it may come from protected rows.
type Error struct {
	Code     Code
	Message  string
	Detail   string
	Hint     string
	Position int  // 1-based character position in the statement; 0: none
	Fatal    bool // the session ends with it
	Cause    error
}

// Error is message and code, without detail, hint and cause.
func (e *Error) Error() string { return fmt.Sprintf("%s (SQLSTATE %s)", e.Message, e.Code) }

// Unwrap gives the cause, which is for the log and never for a client.
func (e *Error) Unwrap() error { return e.Cause }

// New returns an Error with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Canceled is the error of a statement that its client gave up; cause is the context's.
func Canceled(cause error) *Error {
	return New(QueryCanceled, "canceling statement due to user request").Because(cause)
}

// WithHint returns a copy of e with the hint, which says what to write instead.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// WithDetail returns a copy of e with the detail.
func (e *Error) WithDetail(format string, args ...any) *Error {
	c := *e
	c.Detail = fmt.Sprintf(format, args...)
	return &c
}

// At returns a copy of e that points at the 1-based character position.
func (e *Error) At(position int) *Error {
	c := *e
	c.Position = position
	return &c
}

// Because returns a copy of e with a cause for the log.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Cause = cause
	return &c
}

// Ending returns a copy of e that ends the session.
func (e *Error) Ending() *Error {
	c := *e
	c.Fatal = true
	return &c
}

// Place gives an error for the client that knows no place in the statement this one, counted from 1. Others stay as
// they are.
func Place(err error, position int) error {
	if e := As(err); e.Code != InternalError && e.Position == 0 {
		return e.At(position)
	}
	return err
}

// As finds the Error in err's chain; where there is none it wraps err in an InternalError that shows nothing of it.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: InternalError, Message: "internal error", Detail: "The proxy's log says more.", Cause: err}
}

// Is reports whether err carries the code.
func Is(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}
