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
	"sync"
	"syscall"
	"time"

	"fugu/account"
	"fugu/internal/config"
	"fugu/ledger"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/wire"
)

// drainTimeout is how long clients may finish what they are at when fugu is told to stop.
const drainTimeout = 20 * time.Second

// serve answers clients until ctx ends, then drains.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	_, path, err := flags("serve", args, stderr, nil)
	if err != nil {
		return err
	}
	h, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.settle(ctx); err != nil {
		return err
	}
	door, err := openDoor(h.config, true)
	if err != nil {
		return err
	}
	log := logger(os.Stderr)
	for _, w := range door.warnings {
		log.Warn(w)
	}
	h.warn(log)

	// Each database has an engine, to which a reload gives other policies.
	refusals := ledger.NewRefusals(h.ledger, log)
	defer refusals.Close()
	open := &served{door: door, engines: map[string]*pipeline.Engine{}, refusals: refusals, log: log}
	open.take(h)
	databases := pipeline.NewDatabases(open.engines)
	server := wire.New(wireConfig(h.config, door, log), databases)
	if open.office, err = openOffice(h, door, server, databases, log); err != nil {
		return err
	}

	// wire sets what clients' connections are kept alive by; the net package's own settings would cost as many calls
	// again.
	quiet := net.ListenConfig{KeepAlive: -1}
	listener, err := quiet.Listen(ctx, "tcp", h.config.Listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}

	// Whoever has read that fugu is ready may send it a SIGHUP.
	reloads := make(chan os.Signal, 1)
	signal.Notify(reloads, syscall.SIGHUP)
	defer signal.Stop(reloads)
	leave := open.office.open(ctx)
	defer leave()
	var watching sync.WaitGroup
	watching.Go(func() { door.watch(ctx, open.readAgain) })
	watching.Go(func() {
		forEach(ctx, reloads, func() {
			open.readAgain()
			open.reloaded(reload(ctx, h, open, databases))
		})
	})
	fmt.Fprintf(stdout, "fugu: ready on %s\n", listener.Addr())
	err = server.Serve(ctx, pointed(listener))
	watching.Wait()
	return err
}

// forEach calls do for each signal until ctx ends.
func forEach(ctx context.Context, signals <-chan os.Signal, do func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			do()
		}
	}
}

// settle does what has to be done before the first client comes: the ledger is open, and agrees with the policies.
func (h *house) settle(ctx context.Context) error {
	if err := h.twinsFit(ctx); err != nil {
		return err
	}
	if len(h.policies) > 0 {
		if err := h.openLedger(ctx, true); err != nil {
			return err
		}
		if err := oneWayOnly(ctx, h.ledger, h.policies); err != nil {
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

// again puts a house together for other policies.
func (h *house) again(ctx context.Context) error {
	if h.twinsApart() {
		return h.standApart(ctx)
	}
	if err := h.arrange(); err != nil {
		return err
	}
	if err := h.grants(ctx); err != nil {
		return err
	}
	return h.furnish(ctx)
}

// warn logs what may be a hole, and what is worth knowing.
func (h *house) warn(log *slog.Logger) {
	for _, note := range h.notes {
		log.Info(note)
	}
	for _, w := range h.warnings {
		log.Warn(w.Message, "hint", w.Hint)
	}
}

// reload reads the policies again. Whatever is wrong with them, or with the grants, leaves the old ones in force.
func reload(ctx context.Context, h *house, open *served, databases *pipeline.Databases) error {
	policies, err := policy.Load(h.config.Policy)
	if err != nil {
		return err
	}
	if (len(policies) == 0) != (len(h.policies) == 0) {
		return errors.New("there is no policy, or was none: from the one to the other takes a new start")
	}
	if len(policies) == 0 {
		return nil
	}
	if err := oneWayOnly(ctx, h.ledger, policies); err != nil {
		return err
	}

	// All is put together beside what is in force, and takes its place at the end.
	next := *h
	next.policies = policies
	if err := next.again(ctx); err != nil {
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
	next.warn(open.log)
	open.take(&next)
	databases.Replace(open.engines)
	open.office.loaded(policies)
	return nil
}

// served are the engines of the databases that clients can reach, each there for as long as its database is.
type served struct {
	door     *door
	office   *office
	engines  map[string]*pipeline.Engine
	refusals *ledger.Refusals
	log      *slog.Logger
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

// reloaded says how a reload of the policies ended.
func (s *served) reloaded(err error) {
	s.office.health.Loaded(policiesLoaded, err)
	if err != nil {
		s.log.Error("the policy was not reloaded, the old one stands", "error", describe(err))
		return
	}
	s.log.Info("policy reloaded")
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
			engines[r.database] = e
		}
	}
	s.engines = engines
}
