// Package upstream holds Fugu's two roles at the database. The guest is a client's own connection: its role has no
// right on any protected table, so that the database itself refuses whatever slips through. The reader is a small pool
// that runs nothing but statements composed by Fugu, read-only, with every setting pinned that could change an answer.
//
// What the reader reads from protected tables leaves this package only as mechanism.Statistics, which nobody can look
// into but a mechanism. Errors of the reader's statements leave it without PostgreSQL's message, detail, hint or
// context. Check looks for rights by which a guest could reach protected rows round the side.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/sqlstate"
)

// Guest is a client's own connection to the database.
type Guest struct {
	hijacked *pgconn.HijackedConn
	own      func() (*pgconn.PgConn, error) // the same connection, for what Fugu itself asks; made when it is needed

	// Of a renewable one.
	reported map[string]string // ParameterStatus at first
	first    imprint
	state    string // the statement that asks for another imprint
}

// GuestParameters are what every guest session is pinned to: Fugu's parser reads UTF-8 and standard strings.
var GuestParameters = map[string]string{"client_encoding": "UTF8", "standard_conforming_strings": "on"}

// OpenGuest connects as the guest role, with the run-time parameters that the client asked for. What the database says
// against it is passed on with its code; a database that cannot be reached is 08006.
func OpenGuest(ctx context.Context, config *pgconn.Config, parameters map[string]string) (*Guest, error) {
	settings := make(map[string]string, len(config.RuntimeParams)+len(parameters)+len(GuestParameters)+2)
	maps.Copy(settings, config.RuntimeParams)
	maps.Copy(settings, parameters)
	maps.Copy(settings, GuestParameters)
	delete(settings, "replication") // a replication connection reads every table's changes
	h, err := enter(ctx, config, settings)
	if err != nil {
		var pe *pgconn.PgError
		if errors.As(err, &pe) && !sqlstate.Code(pe.Code).ForbidsLogin() {
			return nil, sqlstate.New(sqlstate.Code(pe.Code), "%s", pe.Message).Because(err)
		}
		return nil, unavailable(err)
	}
	return &Guest{hijacked: h, own: sync.OnceValues(func() (*pgconn.PgConn, error) { return pgconn.Construct(h) })}, nil
}

// enter logs in, by itself or, where that takes more, as pgconn does.
func enter(ctx context.Context, config *pgconn.Config, settings map[string]string) (*pgconn.HijackedConn, error) {
	if simple(config) {
		if h, err := logIn(ctx, config, settings); !errors.Is(err, errLonger) {
			return h, err
		}
	}

	// Settings are given at the start, and the connection is taken over once nothing of the login is left to be read.
	config = config.Copy()
	config.RuntimeParams = settings
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := conn.SyncConn(ctx); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}

	h, err := conn.Hijack()
	if err != nil {
		return nil, fmt.Errorf("taking over the guest connection: %w", err)
	}
	return h, nil
}

// Conn is the connection itself; it is idle when the guest is opened.
func (g *Guest) Conn() net.Conn { return g.hijacked.Conn }

// Parameters are the ParameterStatus values that the server reported.
func (g *Guest) Parameters() map[string]string { return g.hijacked.ParameterStatuses }

// PID is the server's process id of the connection.
func (g *Guest) PID() uint32 { return g.hijacked.PID }

// Cancel asks the server, over a connection of its own, to cancel what the guest is running.
func (g *Guest) Cancel(ctx context.Context) error {
	own, err := g.own()
	if err != nil {
		return err
	}
	return own.CancelRequest(ctx)
}
