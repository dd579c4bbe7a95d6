package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"fugu/test/compat/sides"
)

// recipe is a page of docs/recipes, and how its programs are run.
type recipe struct {
	name    string   // of the page, without .md
	file    string   // what a program is called
	command []string // in a directory that has the program, and what beside it names
	beside  []string // files and directories that are linked into that directory, from the module's root
}

// Debian's Python has Debian's packages; another one may stand before it in PATH.
const python = "/usr/bin/python3"

// In Go the modules are those of a go.mod beside the programs: Fugu itself does without.
var golang = []string{"test/compat/recipes/golang/go.mod", "test/compat/recipes/golang/go.sum"}

// typing types the statements of a recipe into pgcli, on a terminal of its own, and prints what it answers.
const typing = "import session\nfor answer in session.session(open('recipe.sql').read()): print(*answer, sep='\\n')"

var recipes = []recipe{
	{name: "psql", file: "recipe.sql", command: []string{"psql", "-X", "-q", "-f", "recipe.sql"}},
	{name: "pgcli", file: "recipe.sql", command: []string{python, "-c", typing},
		beside: []string{"test/compat/clients/pgcli/session.py"}},
	{name: "pandas", file: "recipe.py", command: []string{python, "recipe.py"}},
	{name: "django", file: "recipe.py", command: []string{python, "recipe.py"}},
	{name: "node-postgres", file: "recipe.js", command: []string{"node", "recipe.js"}},
	{name: "sequelize", file: "recipe.js", command: []string{"node", "recipe.js"}},
	{name: "typeorm", file: "recipe.js", command: []string{"node", "recipe.js"}},
	{name: "knex", file: "recipe.js", command: []string{"node", "recipe.js"}},
	{name: "drizzle", file: "recipe.mjs", command: []string{"node", "recipe.mjs"}},
	{name: "gorm", file: "main.go", command: []string{"go", "run", "."}, beside: golang},
	{name: "bun", file: "main.go", command: []string{"go", "run", "."}, beside: golang},
	{name: "jdbc", file: "Recipe.java", command: []string{"java", "-cp", "/usr/share/java/postgresql.jar",
		"Recipe.java"}},
	{name: "odbc", file: "recipe.py", command: []string{python, "recipe.py"}},
	{name: "adminer", file: "recipe.js", command: []string{"node", "recipe.js"}},
	{name: "r", file: "recipe.R", command: []string{"Rscript", "--vanilla", "recipe.R"}},
}

// downloads are what go says where it has a module of the recipe's not yet.
var downloads = regexp.MustCompile(`(?m)^go: downloading .*\n`)

// run writes the program into a directory of its own and runs it on one side. The output is what it writes to either
// stream.
func (r recipe) run(ctx context.Context, dir, program string, side sides.Side) (string, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, r.file), []byte(program), 0o600); err != nil {
		return "", err
	}
	for _, file := range r.beside {
		if err := link(filepath.Join(moduleRoot(), file), dir); err != nil {
			return "", err
		}
	}
	// Where scripts/setup.sh compat puts packages of npm's.
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if err := link(filepath.Join(cache, "fugu/compat/node_modules"), dir); err != nil {
		return "", err
	}

	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := sides.Command(ctx, r.command[0], slices.Clone(r.command[1:])...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), side.Environment()...)
	cmd.Env = append(cmd.Env, "LC_ALL=C.UTF-8", "TZ=UTC", "PYTHONUNBUFFERED=1",
		"NODE_NO_WARNINGS=1") // of TypeORM, that it uses node-postgres in a way that will not stay
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return tidy(downloads.ReplaceAllString(out.String(), "")), err
}

// link makes a link to a file in a directory.
func link(file, dir string) error { return os.Symlink(file, filepath.Join(dir, filepath.Base(file))) }

// moduleRoot is the directory of go.mod, from the working directory up.
func moduleRoot() string {
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	return "."
}
