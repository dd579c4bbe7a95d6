package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// completion prints what a shell completes command lines by.
func completion(_ context.Context, args []string, stdout, stderr io.Writer) error {
	fs, err := flagsAlone("completion", args, stderr, nil)
	if err != nil {
		return err
	}
	write := map[string]func(io.Writer){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[fs.Arg(0)]
	if fs.NArg() != 1 || write == nil {
		return usageError{errors.New(`say "fugu completion bash", "zsh" or "fish"`)}
	}
	write(stdout)
	return nil
}

// words are a command's subcommands.
func (c command) words() (out []string) {
	for _, u := range c.uses {
		if word := u.subcommand(); word != "" && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// value is what a flag takes, and what it is for; without a value it is yes or no.
func value(f *flag.Flag) (takes, does string) {
	takes, does = flag.UnquoteUsage(f)
	return takes, strings.ReplaceAll(does, "\n", " ")
}

// bashCompletion needs no package of completions. Where a word of the shell's own would do, it leaves it to files.
func bashCompletion(w io.Writer) {
	names := []string{"help"}
	for _, c := range commands() {
		names = append(names, c.name)
	}

	// The first word is a command.
	fmt.Fprintf(w, `# fugu completion bash >> ~/.bashrc
_fugu() {
  local word=${COMP_WORDS[COMP_CWORD]} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=%q
  else
    case ${COMP_WORDS[1]} in
`, strings.Join(names, " "))
	for _, c := range commands() {
		// What follows depends on it: flags where a word begins so, and else what the command takes first.
		var list []string
		for _, f := range c.flags() {
			list = append(list, "-"+f.Name)
		}
		fmt.Fprintf(w, "    %s)\n      if [ \"${word#-}\" != \"$word\" ]; then words=%q\n", c.name,
			strings.Join(list, " "))
		if words := c.words(); words != nil {
			fmt.Fprintf(w, "      elif [ \"$COMP_CWORD\" -eq 2 ]; then words=%q\n", strings.Join(words, " "))
		}
		fmt.Fprint(w, "      fi ;;\n")
	}

	fmt.Fprint(w, `    esac
  fi
  while IFS= read -r reply; do
    COMPREPLY+=("$reply")
  done < <(compgen -W "$words" -- "$word")
}
complete -o default -F _fugu fugu
`)
}

// inSingle is a text for single quotes of a shell.
func inSingle(s string) string { return strings.ReplaceAll(s, "'", `'\''`) }

func zshCompletion(w io.Writer) {
	fmt.Fprint(w, "#compdef fugu\n# fugu completion zsh > \"${fpath[1]}/_fugu\"\n_fugu() {\n  if (( CURRENT == 2 )); "+
		"then\n"+
		"    local -a list=(\n")

	// What a command does is shown beside its name: there : and [ mean something to zsh.
	escape := strings.NewReplacer(":", `\:`, "[", `\[`, "]", `\]`)
	for _, c := range commands() {
		fmt.Fprintf(w, "      '%s:%s'\n", c.name, inSingle(escape.Replace(c.uses[0].does)))
	}

	// Behind the command come its words and its flags.
	fmt.Fprint(w, "    )\n    _describe command list\n    return\n  fi\n  case ${words[2]} in\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %s)\n    _arguments '1: :(%s)'", c.name, c.name)
		if words := c.words(); words != nil {
			fmt.Fprintf(w, " '2: :(%s)'", strings.Join(words, " "))
		}

		for _, f := range c.flags() {
			takes, does := value(f)
			fmt.Fprintf(w, " \\\n      '-%s[%s]", f.Name, inSingle(escape.Replace(does)))
			if takes != "" {
				fmt.Fprintf(w, ":%s:_default", inSingle(escape.Replace(takes)))
			}
			fmt.Fprint(w, "'")
		}

		fmt.Fprint(w, " '*: :_default' ;;\n")
	}

	fmt.Fprint(w, "  esac\n}\n_fugu \"$@\"\n")
}

func fishCompletion(w io.Writer) {
	quote := func(s string) string { return strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) }
	fmt.Fprint(w, "# fugu completion fish > ~/.config/fish/completions/fugu.fish\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "complete -c fugu -n __fish_use_subcommand -f -a %s -d '%s'\n", c.name, quote(c.uses[0].does))
		seen := fmt.Sprintf("__fish_seen_subcommand_from %s", c.name)
		for _, word := range c.words() {
			fmt.Fprintf(w, "complete -c fugu -n '%s' -a %s\n", seen, word)
		}
		for _, f := range c.flags() {
			takes, does := value(f)
			needs := ""
			if takes != "" {
				needs = " -r"
			}
			fmt.Fprintf(w, "complete -c fugu -n '%s' -o %s%s -d '%s'\n", seen, f.Name, needs, quote(does))
		}
	}
}
