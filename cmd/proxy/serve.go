package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"fugu/account"
	"fugu/internal/config"
	"fugu/internal/trace/otlp"
	"fugu/ledger"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/upstream"
	"fugu/wire"
)

// drainTimeout is how long clients may finish what they are at when fugu is told to stop.
const drainTimeout = 20 * time.Second

// serve answers clients until ctx ends, then drains.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs, path, err := flags("serve", args, stderr, nil)
	if err == nil {
		err = noArguments(fs)
	}
	if err != nil {
		return err
	}
	self, err := program()
	if err != nil {
		return err
	}
	in, err := inherited()
	if err != nil {
		return err
	}
	h, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer h.close()
	h.lock = in.lock
	if err := h.settle(ctx); err != nil {
		return err
	}

	// What could go wrong with the configuration has done so by now: the rest is what clients meet.
	door, err := openDoor(h.config, toServe)
	if err != nil {
		return err
	}
	log := logger(os.Stderr, h.config.Log)
	for _, w := range door.warnings {
		log.Warn(w)
	}
	h.warn(ctx, log)

	s := &served{house: h, door: door, program: self, engines: map[string]*pipeline.Engine{},
		refusals: ledger.NewRefusals(h.ledger, log), log: log}
	defer s.refusals.Close()

	stop, err := s.trace(ctx)
	if err != nil {
		return err
	}
	defer stop()
	s.take(h)
	s.databases = pipeline.NewDatabases(s.engines)
	s.server = wire.New(wireConfig(h.config, door, log), s.databases)
	if s.office, err = openOffice(h, door, s.server, s.databases, log); err != nil {
		return err
	}
	if s.listener, err = in.listen(ctx, h.config.Listen); err != nil {
		return err
	}
	return s.answer(ctx, in, stdout)
}

// answer serves clients until ctx ends, or a successor has taken over and the last client has gone.
func (s *served) answer(ctx context.Context, in inheritance, stdout io.Writer) error {
	// Whoever has read that fugu is ready may send it a signal.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGUSR2)
	defer signal.Stop(signals)

	// One life within the other: ctx is the proxy's, and ends with a cause; serving lasts until the last client has
	// gone; active, until a successor takes the new ones.
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	serving, over := context.WithCancel(ctx)
	defer over()
	active, retire := context.WithCancel(serving)
	defer retire()
	leave := s.office.open(active)
	defer leave()

	// What a successor looks after by itself is watched while this proxy is active; what guests can reach, for as long
	// as a client is left.
	var watching sync.WaitGroup
	watching.Go(func() { s.door.watch(active, s.readAgain) })
	grants := &grantsWatch{log: s.log, end: end,
		reached: func(ctx context.Context) error { return s.office.stands.Load().reached(ctx) }}
	watching.Go(func() { grants.run(serving) })
	if h := s.house; h.config.Reload == "watch" {
		watching.Go(func() { watchPolicies(active, h.config.Policy, h.seen, func() { s.reload(active) }) })
	}
	watching.Go(func() { s.catalog(grants).run(active) })
	watching.Go(func() {
		forEach(active, signals, func(got os.Signal) {
			if got != syscall.SIGUSR2 {
				s.readAgain()
				s.reload(active)
			} else if successor := s.handOver(active); successor != nil {
				leave() // which the successor tries to have
				retire()
				watching.Go(func() { s.outlive(serving, successor, end) })
			}
		})
	})

	// What is said of the end is said before the last word.
	watching.Go(func() {
		<-active.Done()
		s.stopping(ctx)
	})

	s.announce()
	fmt.Fprintf(stdout, "fugu: ready on %s\n", s.listener.Addr())
	if err := in.takes(); err != nil {
		s.log.Warn("nobody was told that clients are taken", "error", err)
	}
	err := s.server.Serve(ctx, pointed(s.listener))
	over()
	watching.Wait()
	if err == nil {
		s.log.Info("stopped")
	}
	return withCause(ctx, err)
}

// withCause adds to how serving has ended what ended it from within: a successor that failed, or guests who can reach
// what they must not.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errAlone) || errors.As(cause, new(upstream.Holes)) {
		err = errors.Join(err, cause)
	}
	return err
}

// handOver starts a successor, and takes no more clients where it has come up; else there is none.
func (s *served) handOver(ctx context.Context) *heir {
	successor, err := bequeath(ctx, s.program, s.listener, s.house.lock)
	if err != nil {
		s.log.Error("there is no successor, and this proxy goes on", "error", err)
		return nil
	}
	s.log.Info("a successor takes clients; this proxy ends with its last one", "pid", successor.pid,
		"sessions", s.server.Counts().Sessions)
	s.server.Retire(s.house.config.Limits.HandOver)
	return successor
}

// forEach calls do with each signal until ctx ends.
func forEach(ctx context.Context, signals <-chan os.Signal, do func(os.Signal)) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case got := <-signals:
			do(got)
		}
	}
}

// settle does what has to be done before the first client comes: the ledger is open, and agrees with the policies.
func (h *house) settle(ctx context.Context) error {
	if err := h.twinsFit(ctx); err != nil {
		return err
	}
	if len(h.policies) > 0 {
		if err := h.openLedger(ctx, toServe); err != nil {
			return err
		}
		if err := addsUp(ctx, h.ledger, h.policies); err != nil {
			return err
		}
	}
	if err := h.takeOver(ctx); err != nil {
		return err
	}
	return account.BeginEpochs(ctx, h.ledger, h.policies)
}

// wireConfig is what the configuration says to package wire.
func wireConfig(c *config.Config, door *door, log *slog.Logger) wire.Config {
	var pool wire.Pool
	if c.Pool.Mode == "transaction" {
		pool = wire.Pool{Size: c.Pool.Size, Wait: c.Pool.Wait}
	}
	return wire.Config{
		Auth:                     door.auth,
		TLS:                      door.tls,
		MaxClients:               c.Limits.Clients,
		UserClients:              c.Limits.UserClients,
		MessageBytes:             int(c.Limits.MessageBytes),
		LoginTimeout:             c.Limits.LoginTimeout,
		IdleTimeout:              c.Limits.IdleTimeout,
		IdleInTransactionTimeout: c.Limits.IdleInTransactionTimeout,
		KeepAlive:                c.Limits.KeepAlive,
		DrainTimeout:             drainTimeout,
		Pool:                     pool,
		Logger:                   log,
	}
}

// rearrange puts a house together for other policies.
func (h *house) rearrange(ctx context.Context) error {
	if h.twinsApart() {
		return h.standApart(ctx)
	}
	if err := h.arrange(); err != nil {
		return err
	}
	return h.protect(ctx)
}

// warn logs what may be a hole, and what is worth knowing.
func (h *house) warn(ctx context.Context, log *slog.Logger) {
	for _, note := range h.notes {
		log.Info(note)
	}
	for _, w := range h.warnings {
		log.Warn(w.Message, "hint", w.Hint)
	}

	for _, p := range h.policies {
		broken, late, err := h.uncharged(ctx, p)
		if err != nil {
			log.Warn("it is not known what secrets were charged for", "dataset", p.Dataset, "error", describe(err))
		}
		for _, b := range broken {
			log.Error(b.Error(), "dataset", p.Dataset, "hint", b.Mend())
		}
		for _, what := range late {
			log.Warn(what, "dataset", p.Dataset, "hint", unchargedHint)
		}
	}

	// Elsewhere than beside their tables, twins that are missing are among the notes.
	if h.twinsApart() {
		return
	}
	switch missing, err := h.unbuilt(ctx); {
	case err != nil:
		log.Warn("it is not known which twins are built", "error", describe(err))
	case len(missing) > 0:
		log.Warn("twins are not built yet, and statements on their tables are refused", "tables",
			strings.Join(missing, ", "), "hint", "run fugu twin build; serve finds them then")
	}
}

// reload reads the policies again. Whatever is wrong with them, or with the grants, leaves the old ones in force.
func (s *served) reload(ctx context.Context) {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	before := s.office.policies.Load()
	policies, err := policy.Load(s.house.config.Policy)
	if err == nil {
		err = s.replace(ctx, policies)
	}
	s.office.health.Loaded(policiesLoaded, err)
	if err != nil {
		s.log.Error("the policy was not reloaded, the old one stands", "error", describe(err))
		return
	}
	s.log.Info("policy reloaded", changes(*before, *s.office.policies.Load())...)
}

// replace puts everything together beside what is in force, and has it take that's place at the end.
func (s *served) replace(ctx context.Context, policies []*policy.Policy) error {
	h := s.house
	if (len(policies) == 0) != (len(h.policies) == 0) {
		return errors.New("there is no policy, or was none: from the one to the other takes a new start")
	}
	if len(policies) == 0 {
		return nil
	}
	if err := addsUp(ctx, h.ledger, policies); err != nil {
		return err
	}

	// Everything is made beside what is in force. An error up to here leaves all of it as it was.
	next := *h
	next.policies = policies
	if err := next.rearrange(ctx); err != nil {
		return err
	}
	if err := next.twinsFit(ctx); err != nil {
		return err
	}
	if err := next.takeOver(ctx); err != nil {
		return err
	}
	if err := account.BeginEpochs(ctx, h.ledger, policies); err != nil {
		return err
	}

	// From here on nothing can fail.
	next.warn(ctx, s.log)
	s.take(&next)
	s.databases.Replace(s.engines)
	s.office.policies.Store(&policies)
	s.office.stands.Store(&next)
	return nil
}

// catalog watches what the tables of the policies in force are. What changed may be a hole: that is looked for first,
// though grants are checked once more with all that is loaded anew. There an error ends the loading, as of a migration
// that is half done, and may come before the grants; and a hole alone ends the proxy.
func (s *served) catalog(grants *grantsWatch) *catalogWatch {
	return &catalogWatch{log: s.log,
		states: func(ctx context.Context) (string, string, error) { return s.office.stands.Load().catalog(ctx) },
		renew: func(ctx context.Context) error {
			if grants.look(ctx); ctx.Err() != nil {
				return ctx.Err()
			}
			s.reloading.Lock()
			defer s.reloading.Unlock()
			return s.replace(ctx, s.office.stands.Load().policies)
		},
		loaded: func(err error) { s.office.health.Loaded(tablesLoaded, err) }}
}

// served are the engines of the databases that clients can reach, each there for as long as its database is, with all
// that is around them.
type served struct {
	house     *house // as it was opened
	door      *door
	office    *office
	program   string // that a successor is started from
	server    *wire.Server
	listener  net.Listener
	databases *pipeline.Databases
	engines   map[string]*pipeline.Engine
	refusals  *ledger.Refusals
	traces    *otlp.Exporter // nil: nothing is traced
	log       *slog.Logger
	reloading sync.Mutex // one at a time
}

// readAgain reads users, certificates and the operators' token again.
func (s *served) readAgain() {
	err := errors.Join(s.door.reload(), s.office.token.Reload())
	s.office.health.Loaded(usersLoaded, err)
	if err != nil {
		s.log.Error("users or certificates were not reloaded, the old ones stand", "error", err)
		return
	}
	s.log.Info("users and certificates reloaded")
}

// take gives every room of a house its engine. Rooms that are there already have the new masks before a new one opens.
func (s *served) take(h *house) {
	engines := map[string]*pipeline.Engine{}
	for _, r := range h.rooms {
		if e := s.engines[r.database]; e != nil {
			e.Replace(r.snapshot)
			engines[r.database] = e
		}
	}
	for _, r := range h.rooms {
		if engines[r.database] == nil {
			e := h.engine(r, h.ledger, s.log)
			e.Record(s.refusals)
			if s.traces != nil {
				e.Trace(s.traces)
			}
			engines[r.database] = e
		}
	}
	s.engines = engines
}
