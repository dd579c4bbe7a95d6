package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"fugu/internal/nearest"
)

// command is one of fugu's commands. Help, the completion of shells and the manual page are made of this table.
type command struct {
	name string
	run  func(ctx context.Context, args []string, stdout, stderr io.Writer) error
	uses []use
}

// use is one way to call a command.
type use struct {
	words string // behind the command's name: subcommand, arguments in capitals, flags that it cannot do without
	does  string
	alone bool
}

// What a use reads beside its arguments: the configuration, and what that names, or nothing.
const (
	configured = false
	alone      = true
)

// commands are all of them, in the order in which they are needed.
func commands() []command {
	return []command{
		{"init", initialize, []use{{"DATABASE-URL", "propose a policy, configuration and grants for tables of a " +
			"database, and write them", alone}}},
		{"check", check, []use{{"", "check configuration, policies, grants and references, and say what is wrong",
			configured}}},
		{"serve", serve, []use{{"", "answer clients", configured}}},
		{"user", userCommand, []use{{"add NAME", "give a user a password", configured}}},
		{"twin", twinCommand, []use{
			{"build [DATASET...]", "make the twins that policies ask for", configured},
			{"preview [DATASET...]", "show what they would be", configured},
			{"show", "show those that there are", configured},
			{"drop [DATASET...]", "drop them", configured},
			{"export [DATASET] FILE", "write twins as SQL for somebody who never sees the proxy, and a certificate",
				configured}}},
		{"preview", preview, []use{
			{`"SQL"`, "show F, mechanism, noise and interval for several epsilon; spends nothing", configured},
			{"-workload FILE", "show price and error of each statement of a file, with noise and on a twin",
				configured}}},
		{"fit", fit, []use{{"", "prepare models from the references, and report how well they fit", configured}}},
		{"budget", budget, []use{
			{"", "show what is left of every budget", configured},
			{"show DATASET", "everything about one: last charges, resets, refusals", configured},
			{"reset DATASET -reason TEXT", "have a dataset's budgets begin anew; audited, and says what that gives up",
				configured}}},
		{"epoch", epoch, []use{{"advance DATASET -reason TEXT", "say that the tables hold other data: stored answers " +
			"end", configured}}},
		{"audit", auditing, []use{
			{"verify", "verify the ledger and its audit chain", configured},
			{"export", "verify it, and print the chain", configured}}},
		{"ledger", ledgerCommand, []use{
			{"backup FILE", "copy the ledger, while proxies use it", configured},
			{"export FILE", "write a whole ledger as lines of JSON", configured},
			{"import FILE", "make a ledger of what another store exported", configured},
			{"compact -before DATE -reason TEXT", "drop the content of old answers; who asks again is charged again",
				configured}}},
		{"schema", schema, []use{
			{"policy", "print the JSON Schema of policy files, for editors", alone},
			{"config", "print that of fugu.yaml", alone}}},
		{"completion", completion, []use{
			{"bash", "print what a shell completes commands by", alone}, {"zsh", "the same for zsh", alone},
			{"fish", "the same for fish", alone}}},
		{"man", manual, []use{{"", "print the manual page, in roff", alone}}},
		{"version", version, []use{{"", "print the version", alone}}},
	}
}

// commandOf finds one by its name.
func commandOf(name string) (command, bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return all[i], true
}

// meant says which command somebody may have meant.
func meant(name string) string {
	var known []string
	for _, c := range commands() {
		known = append(known, c.name)
	}
	if near := nearest.Of(name, known); near != "" {
		return "write fugu " + near + "; fugu help lists all"
	}
	return "fugu help lists those that there are"
}

// subcommand is the first of a use's words, where that is no argument.
func (u use) subcommand() string {
	word, _, _ := strings.Cut(u.words, " ")
	if strings.ToLower(word) != word || strings.ContainsAny(word, `"[-`) {
		return ""
	}
	return word
}

// call is a use as it is typed.
func (c command) call(u use) string {
	parts := []string{"fugu", c.name}
	if u.words != "" {
		parts = append(parts, u.words)
	}
	if !u.alone {
		parts = append(parts, "-c fugu.yaml")
	}
	return strings.Join(parts, " ")
}

// usage is what help prints.
func usage() string {
	const width = 42
	var b strings.Builder
	b.WriteString("fugu keeps global properties of a dataset secret, on PostgreSQL's wire.\n\n")
	for _, c := range commands() {
		for _, u := range c.uses {
			call := "  " + c.call(u)
			if len(call) >= width {
				call += "\n"
				b.WriteString(call + strings.Repeat(" ", width) + u.does + "\n")
				continue
			}
			fmt.Fprintf(&b, "%-*s%s\n", width, call, u.does)
		}
	}
	b.WriteString("\nfugu COMMAND -h lists the flags of a command.\n")
	return b.String()
}

// flags are what a command takes: it is asked for them, and does nothing else.
func (c command) flags() (out []*flag.Flag) {
	l := &flagList{Writer: io.Discard}
	_ = c.run(context.Background(), nil, io.Discard, l)
	if l.FlagSet != nil {
		l.VisitAll(func(f *flag.Flag) { out = append(out, f) })
	}
	return out
}
