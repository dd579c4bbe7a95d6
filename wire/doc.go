// Package wire speaks PostgreSQL's protocol 3 (manual, chapter "Frontend/Backend Protocol") with clients, and relays it
// to the guest connection that stands behind each of them. It knows no SQL: an Engine says which statements are more
// than ordinary, and what they become.
//
// # Layers
//
// A Server accepts connections; startup and authentication make each a session. A session has two goroutines. The
// frontend reads the client's messages and writes the guest's; the backend reads the guest's replies and writes the
// client's. Between them stands the exchange: the replies that are expected, in the order in which they were asked for.
//
// # Order
//
// Every reply to the client passes the backend goroutine, so none can overtake another. What Fugu says itself takes
// part in that order: a notice goes out before the reply of the entry that it belongs to; an error of ours is raised on
// the guest too, by sending it text that cannot be parsed and giving our error in place of its own. So the guest's
// transaction aborts, the server skips to the next Sync by its own rule, and ReadyForQuery comes from the server.
//
// # Protected statements
//
// A statement that the Engine answers is prepared on the guest under the client's own name, with parameters of the
// engine's behind the client's. Bind is where the engine works: it is called only when everything sent before has
// succeeded, so that a statement which the server would skip costs nothing. In a simple Query that holds such a
// statement, all of its statements run through the extended protocol with one Sync at the end, which gives them the one
// implicit transaction that they would have had.
//
// Where the Engine only wants another text (Relayer), none of that is needed: the Query or Parse is sent with that
// text, and what follows as it came (requery and bindSilent).
//
// # Relay
//
// Frames that nobody needs to understand are relayed without decoding, from the buffer that they were read into: an
// inlet reads, frames finds out where each ends, and an outlet writes what stands together in one call, when nothing
// more is there to be read. Nothing is allocated for a message. A connection that waits holds no buffer.
//
// # Back-pressure
//
// A client that does not read stops its backend goroutine, then the guest, and then, when the guest reads no more, the
// frontend: as with PostgreSQL itself, a client that pipelines without bound must read. The backend never waits for the
// frontend, so between the two there is no other way to a standstill.
//
// # Endings
//
// A session ends as PostgreSQL's do. Whatever the reason, the guest gets Terminate behind all that was sent before, and
// the backend relays until the guest's end; the FATAL error that says why comes last, and there is one at most. All
// this has a few seconds; what a client that went away left running is then cut off, but not canceled.
//
// # Copies
//
// In copy-in mode the server ignores Sync and Flush, and dies of any other message that is no part of the copy. That it
// is in that mode is known only when it says so, so the exchange keeps the Syncs that were sent meanwhile until it is
// known whether the copy has read them. Where it has to be known whether a copy goes on, the server is sent a CopyFail,
// which it ignores outside of one.
//
// # Start
//
// A connection begins as a login: startup packets, encryption, authentication, in PostgreSQL's order and with its
// words. Each layer of it can be read by itself: startup.go and parameters.go what is asked for, tls.go how it is
// encrypted, and package auth who may come in. What is read from files can be replaced while sessions go on.
//
// # Pool
//
// Guests can be shared: a session then has one from the first message of a transaction on, until nothing is outstanding
// or unfinished and somebody else waits. The frontend takes it and gives it back, and a backend goroutine runs as long
// as the session has one (lending.go); who returns a guest gives it to whoever waits first (pool.go). Between two
// clients it is renewed. Prepared statements are remembered, and brought to a guest that has not got them
// (prepared.go).
//
// # Gaps
//
// No encryption by GSSAPI, no FunctionCall, no replication. Of Syncs sent early to a copy for which data and then other
// messages were sent, all before the server's first reply, it cannot be told which were read; such a session can end
// where PostgreSQL goes on.
package wire
