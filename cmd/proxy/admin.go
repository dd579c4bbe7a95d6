package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/account"
	"fugu/admin"
	"fugu/ledger"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/wire"
	"fugu/wire/auth"
)

// office is the address for operators, with what they ask about. It is there also where fugu.yaml names no address:
// nobody asks then.
type office struct {
	house     *house
	server    *wire.Server
	databases *pipeline.Databases
	policies  atomic.Pointer[[]*policy.Policy] // in force
	stands    atomic.Pointer[house]            // what is in force, with its rooms
	health    *admin.Health
	token     *admin.Token // nil: metrics are shown to nobody
	door      *door
	log       *slog.Logger
}

// openOffice reads what the address needs, and knows that everything was loaded a moment ago.
func openOffice(h *house, d *door, server *wire.Server, databases *pipeline.Databases, log *slog.Logger) (*office,
	error) {
	o := &office{house: h, server: server, databases: databases, door: d, log: log}

	// The first start makes the token, in a file that nobody else may read.
	if path := h.config.Admin.Token; path != "" {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if _, err := auth.KeptSecret(path); err != nil { // which makes a file that nobody else may read
				return nil, fmt.Errorf("making admin_token: %w", err)
			}
			log.Info("a token for operators was made", "admin_token", path)
		}
		t, err := admin.ReadToken(path)
		if err != nil {
			return nil, err
		}
		o.token = t
	}

	// Without policies there is no ledger, and nothing of it to be healthy.
	checks := []admin.Check{{Name: "postgresql", Probe: o.reach}}
	if h.ledger != nil {
		checks = append(checks, admin.Check{Name: "ledger", Probe: o.readLedger})
	}
	o.health = admin.NewHealth(log, checks...)

	o.policies.Store(&h.policies)
	o.stands.Store(h)
	o.health.Loaded(policiesLoaded, nil)
	o.health.Loaded(tablesLoaded, nil)
	o.health.Loaded(usersLoaded, nil)
	return o, nil
}

// What is loaded anew while a proxy serves.
const (
	policiesLoaded = "policies"
	tablesLoaded   = "tables"
	usersLoaded    = "users and certificates"
)

// reach connects to the database as clients' statements do. The reader is not asked: its connections are busy while
// protected rows are read, and how long a check waits for one would say for how long.
func (o *office) reach(ctx context.Context) error {
	conn, err := pgconn.ConnectConfig(ctx, o.house.guest)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// readLedger asks the ledger for something small.
func (o *office) readLedger(ctx context.Context) error {
	first := (*o.policies.Load())[0] // there is a ledger where there is a policy, and a reload takes away no last one
	_, err := o.house.ledger.Spent(ctx, first.Dataset, ledger.Everybody)
	return err
}

// kindNames are how kinds of statements are called in the metrics.
var kindNames = map[wire.Kind]string{wire.Plain: "plain", wire.Protected: "protected", wire.Twin: "twin",
	wire.Catalog: "catalog", wire.Own: "fugu"}

// figures are what the metrics show at this moment.
func (o *office) figures(ctx context.Context) admin.Figures {
	counts, busy := o.server.Counts(), o.databases.Busy()
	f := admin.Figures{
		Connections: counts.Connections, Sessions: counts.Sessions, Begun: counts.Begun,
		SessionsLimit: int64(o.house.config.Limits.Clients),
		Statements:    map[string]int64{}, Errors: map[string]int64{},
		Answering: busy.Answering, SearchesRunning: busy.Running, SearchesWaiting: busy.Searches - busy.Running,
		SearchesLimit: busy.Places,
		Datasets:      len(*o.policies.Load()), Budgets: o.budgets(ctx),
	}

	// Counts are kept by number, and shown by the names that dashboards ask for.
	for kind, name := range kindNames {
		f.Statements[name] = counts.Statements[kind]
	}
	for code, n := range counts.Errors {
		f.Errors[string(code)] = n
	}

	// Behind the last bound are the waits that were longer than all: UpTo stays zero there.
	for i, n := range counts.Waits {
		w := admin.Wait{Count: uint64(n)}
		if i < len(wire.WaitBounds) {
			w.UpTo = wire.WaitBounds[i]
		}
		f.Waits = append(f.Waits, w)
	}

	if counts.Pooled {
		f.Pool = &admin.Pool{Guests: counts.Guests, Idle: counts.Idle, Limit: counts.Places, Waiting: counts.Queue}
	}
	return gossiping(f)
}

// budgets are the accounts of everybody together and of groups. They are no secret: each charge follows from text,
// policy and model, is booked before a protected row is read, and never taken back; fugu.budget shows the same.
// Accounts of single users are left to fugu budget, since a user's name is nothing for a dashboard. nil: the ledger
// cannot be asked, which its check says.
func (o *office) budgets(ctx context.Context) (out []admin.Budget) {
	for _, p := range *o.policies.Load() {
		balances, err := account.AllBalances(ctx, o.house.ledger, p)
		if err != nil {
			return nil
		}

		// A scope that has no name here is a single user, and is left out.
		names := map[string]string{ledger.Everybody: "everybody"}
		if shares := p.Privacy.Budget.Shares; shares != nil {
			for _, g := range shares.Groups {
				names[ledger.GroupScope(g.Name)] = "group " + g.Name
			}
		}

		for _, b := range balances {
			if scope, ok := names[b.Scope]; ok {
				out = append(out, admin.Budget{Dataset: b.Dataset, Scope: scope, Secret: b.Secret, Limit: b.Total,
					Left: b.Left, Releases: b.Releases})
			}
		}
	}
	return out
}

// The office tries again and again to have its address. A successor has to wait until the proxy before has left it; if
// it takes longer, the log says so.
const (
	again   = 500 * time.Millisecond
	unusual = 10 // tries
)

// open answers operators until leave is called: while clients are served, and while those that are left when ctx ends
// finish what they are at.
func (o *office) open(ctx context.Context) (leave func()) {
	saying := context.AfterFunc(ctx, o.health.Leave)
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	var serving sync.WaitGroup
	serving.Go(func() { o.serve(work) })
	return sync.OnceFunc(func() {
		saying()
		end()
		serving.Wait()
	})
}

// serve answers operators until ctx ends. That their address is taken, by a proxy of the same configuration say, is no
// reason not to serve clients: it is logged, and tried again.
func (o *office) serve(ctx context.Context) {
	if o.house.config.Admin.Address == "" {
		return
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { every(ctx, admin.ProbeEvery, func() { o.health.Probe(ctx) }) })

	// Only a failure that lasts is logged: a successor of this proxy waits for the address a moment.
	for tries := 0; ctx.Err() == nil; tries++ {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.house.config.Admin.Address)
		if err == nil {
			o.log.Info("operators are answered", "admin", l.Addr().String(), "metrics", o.token != nil)
			err = admin.Serve(ctx, l, o.options())
		}
		if err != nil && ctx.Err() == nil && tries == unusual {
			o.log.Error("the address for operators cannot be had now, and is tried again", "error", err)
		}

		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

// options are what the address shows, and to whom.
func (o *office) options() admin.Options {
	out := admin.Options{Health: o.health, Figures: o.figures, Token: o.token, Console: o.pages()}
	if o.house.config.Admin.TLS {
		out.TLS = o.door.tls.Web()
	}
	return out
}
