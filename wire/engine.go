package wire

import (
	"context"
	"net"
)

// Engine is what stands behind the protocol: it opens sessions and knows SQL, which this package does not.
type Engine interface {
	// Open gives an authenticated client its session. The error, if a *sqlstate.Error, is what the client is told.
	Open(ctx context.Context, startup Startup) (Session, error)
}

// Startup is what a client asked for when it connected.
type Startup struct {
	User     string
	Database string
	// Parameters are the run-time parameters of the startup message, without user, database and the _pq_. options.
	Parameters map[string]string
}

// Session is one client's side of the engine. Its methods are called from one goroutine at a time.
type Session interface {
	// Connect opens a connection for this client's traffic.
	Connect(ctx context.Context) (Guest, error)
	// ConnectRenewable opens one that can be renewed, for others to have it later.
	ConnectRenewable(ctx context.Context) (Guest, error)
	// Kind names what both open: a guest of one session's serves another's of the same kind, and of no other.
	Kind() string
	// Lasting reports whether a text may leave something in the database's session that later transactions of the
	// client's depend on: then it keeps its guest. It allocates nothing and does not keep sql.
	Lasting(sql []byte) bool
	// Ordinary reports that a text is ordinary where a glance at it tells: Interpret would return nil. It allocates
	// nothing, and does not keep sql, whose bytes change after it returns.
	Ordinary(sql []byte) bool
	// Interpret decides about one SQL text: of a simple Query, or of a Parse. A nil slice means that the text is
	// ordinary and goes to the guest as it is. Otherwise it is the text's statements in order, of which at least
	// one needs work of the engine's. paramTypes are the type OIDs of the Parse message, nil for a simple Query.
	Interpret(ctx context.Context, sql string, paramTypes []uint32) ([]Statement, error)
}

// Guest is an established, idle upstream connection: protocol 3 after the first ReadyForQuery. It ends with Conn.
type Guest interface {
	Conn() net.Conn
	// Parameters are the ParameterStatus values that the server reported so far.
	Parameters() map[string]string
	// PID is the server's process id of the connection, as pg_backend_pid gives it; 0 if it is not known.
	PID() uint32
	// Cancel asks the server, over a connection of its own, to cancel what the guest connection is running.
	Cancel(ctx context.Context) error
	// Quiet reports whether the connection, which is idle, is open and has nothing to be read. It does not wait.
	Quiet() bool
	// Renew makes an idle guest as it was when it was opened, and Parameters with it. Where it finds something in the
	// database's session that its client would miss, it changes nothing, and lasting is true. After an error the guest
	// is good for nothing. Nobody else may use the connection meanwhile.
	Renew(ctx context.Context) (lasting bool, err error)
}

// Statement is one SQL statement as the guest is to run it: the rewritten text, with parameters of the engine's own
// behind the client's.
type Statement interface {
	// Text is what the guest parses. For an ordinary statement beside a protected one it is the client's own.
	Text() string
	// Ordinary reports whether Text is the client's own, so that positions in the guest's errors are the client's.
	Ordinary() bool
	// ParamTypes are the OIDs for the guest's Parse, one for each parameter: the client's first, then the engine's.
	ParamTypes() []uint32
	// ClientParams is the number of parameters the client sees and binds; the guest's further ones are the engine's.
	ClientParams() int
	// Tag replaces the command tag of the guest's CommandComplete; empty: the guest's own stands.
	Tag() string
	// Bind is called each time the statement is bound; it is here that budget is charged and noise drawn.
	Bind(ctx context.Context, b Binding) (Bound, error)
}

// Resolver is a Session that has to know what some names mean in the guest's session before it interprets a text.
type Resolver interface {
	// Lookup returns the statement that finds out what the names of a text mean; empty: that is known already.
	Lookup(ctx context.Context, sql string) string
	// Resolve takes the rows of that statement, for the text that is interpreted next.
	Resolve(rows [][]string)
	// Split returns the statements of a Query that may hold several, as the client wrote them, each at its place, if
	// what their names mean may change from one to the next: then each is interpreted by itself, when its turn comes.
	// Otherwise it returns nil.
	Split(ctx context.Context, sql string) []Statement
}

// Recaller is a Statement that may know what it was answered before.
type Recaller interface {
	// Recall returns what Bind would, where that is known and costs nothing, neither budget nor an Ask. It is called
	// before the server has said that the statement can run. ok is false where Bind has to be called.
	Recall(ctx context.Context, formats []int16, values [][]byte) (b Bound, ok bool)
}

// Relayer is a Statement that may be a text and nothing else: its guest's parameters are the client's, and Bind adds
// notices at the most.
type Relayer interface {
	// Relayed reports that the statement stands for all of what Interpret was given, and means the same as a Query.
	Relayed() bool
	// Silent reports that Bind would add nothing at this moment, nor refuse: then it is not called.
	Silent() bool
}

// Placer is a Statement whose text may be the client's but for its places.
type Placer interface {
	// Placed returns a function that turns a position in Text into one in what the client sent, both in characters from
	// 1; 0 says that it has no place there. Where Placed returns nil, the guest's errors speak of what the client has
	// not written, so their positions are dropped.
	Placed() func(position int32) int32
}

// Binding is what a client binds to a Statement.
type Binding struct {
	// Formats and Values are as in the Bind message: no format codes, one for all, or one each; a nil value is NULL.
	Formats []int16
	Values  [][]byte
	// Ask runs a statement on the session's guest connection, inside its current transaction and in order with
	// everything sent before, and returns its rows in text format, NULL as an empty string. It is for session state,
	// never for data. The statement fails with an error of it, which the client has been told: Bind returns it as it
	// is.
	Ask func(ctx context.Context, sql string) ([][]string, error)
}

// Bound is what the engine adds to a Bind: text-format values for the parameters behind the client's, and notices to
// send before the statement's own replies.
type Bound struct {
	Values  [][]byte
	Notices []Notice
	// Text, if not empty, is what the guest runs for this binding in the place of the statement that it has parsed:
	// where the text was not known then, or takes no parameters and holds the values itself. Values are then of all its
	// parameters, whose types are ParamTypes. It returns what Statement.Text was described to return.
	Text       string
	ParamTypes []uint32
}

// Notice is a NOTICE for the client.
type Notice struct {
	Warning bool // its severity: WARNING in place of NOTICE
	Message string
	Detail  string
	Hint    string
}
