package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/dataset"
	"fugu/parser"
	"fugu/policy"
	"fugu/upstream"
)

// kept are what guests must not reach in a room's database: the tables, and twins whose rows are not listed; the
// references; and those of them that guests are to read.
func (r *room) kept() (protected []upstream.Protected, references, plain []string) {
	for _, p := range r.policies {
		for _, t := range p.Tables {
			protected = append(protected, upstream.Protected{Schema: t.Schema, Name: t.Name})
			if t.Twin != nil && t.Twin.Rows == policy.Aggregate {
				protected = append(protected, upstream.Protected{Schema: parser.TwinSchema, Name: t.Name})
			}
			if t.Reference.Name != "" {
				references = append(references, dataset.Quoted(t.Reference))
			}
			if t.PlainRows == policy.ReferenceRows {
				plain = append(plain, dataset.Quoted(t.Reference))
			}
		}
	}
	return protected, references, plain
}

// databases are the names of those that guests reach through Fugu.
func (h *house) databases() (names []string) {
	for _, r := range h.rooms {
		names = append(names, r.database)
	}
	return names
}

// users are those who have guests of their own in a room, in the order of their names, behind nobody in particular:
// what is found of them is told in one order.
func (r *room) users() []string { return append([]string{""}, slices.Sorted(maps.Keys(r.guests))...) }

// guestOf is the guest of a user, and whose it is in words.
func (r *room) guestOf(user string) (*pgconn.Config, string) {
	if guest := r.guests[user]; guest != nil {
		return guest, fmt.Sprintf("the guest of user %q", user)
	}
	return r.guest, "the guest"
}

// reached looks whether guests can reach by now what they must not: upstream.Holes, if they can.
func (h *house) reached(ctx context.Context) error {
	if len(h.policies) == 0 {
		return nil
	}
	if h.twinsApart() {
		look := *h // which notes what it has seen
		owner, err := pgconn.ParseConfig(string(h.config.Upstream.Twins))
		if err != nil {
			return fmt.Errorf("reading upstream.twins: %w", err)
		}
		_, err = look.lookApart(ctx, owner.User)
		return err
	}

	// Each user's guest can have rights of its own, in each database.
	var holes []upstream.Finding
	for _, r := range h.rooms {
		protected, references, _ := r.kept()
		for _, user := range r.users() {
			guest, _ := r.guestOf(user)
			found, err := upstream.Reached(ctx, guest, protected, references, h.databases()...)
			if err != nil {
				return h.inRoom(r, err)
			}
			holes = append(holes, h.named(r, found)...)
		}
	}
	return upstream.Hole(holes)
}
