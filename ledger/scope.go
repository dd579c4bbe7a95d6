package ledger

import (
	"fmt"
	"strings"

	"fugu/privacy"
)

// A scope is whose loss an account adds up: everybody's together, one user's, or that of a group's members together.
// Everybody pays for each answer once, whoever asks first; whoever is told it besides pays from shares of their own,
// and shares never stand in place of the total. So however users work together, they learn no more than the total
// allows.

// Everybody is the scope of a dataset's total.
const Everybody = ""

// Share is a limit below the total, on what one user or group is told.
type Share struct {
	Scope string // a UserScope or a GroupScope
	Limit privacy.Budget
}

// groupMark begins the scope of a group; a user's name that begins with it has it twice.
const groupMark = "@"

// UserScope is the scope of one user.
func UserScope(user string) string {
	if strings.HasPrefix(user, groupMark) {
		return groupMark + user
	}
	return user
}

// GroupScope is the scope of a group. Its name does not begin with groupMark.
func GroupScope(group string) string { return groupMark + group }

// whose says in words whose budget a scope's is.
func whose(dataset, scope string) string {
	name, user := User(scope)
	switch {
	case scope == Everybody:
		return fmt.Sprintf("dataset %q", dataset)
	case user:
		return fmt.Sprintf("user %q on dataset %q", name, dataset)
	}
	return fmt.Sprintf("group %q on dataset %q", strings.TrimPrefix(scope, groupMark), dataset)
}

// limits are those of a charge, the total's first.
func (c Charge) limits() []Share {
	return append([]Share{{Everybody, c.Limit}}, c.Shares...)
}

// User returns whose scope it is, if it is a user's.
func User(scope string) (name string, ok bool) {
	name, marked := strings.CutPrefix(scope, groupMark)
	if scope == Everybody || marked && !strings.HasPrefix(name, groupMark) {
		return "", false
	}
	return name, true
}
