// Package arch states the rules that the repository's structure keeps, as code, and its tests hold the repository to
// them: which package may import which, how many files of a package may need each other, and a few rules about files.
// It measures them, too, for make shape. Only its own command imports it.
package arch

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const module = "fugu/"

// rule is about the imports of packages.
type rule struct {
	name string
	// forbids says whether the file may not import the package. A package of this module is named by its directory.
	forbids func(f file, imported string) bool
}

// file is a Go file.
type file struct {
	dir  string // from the root
	test bool
}

var rules = []rule{
	{"a leaf imports nothing of ours", func(f file, imported string) bool {
		return !f.test && in(f.dir, "privacy", "sqlstate", "planner/aggregate", "reuse/blue") &&
			!in(f.dir, "privacy/joint") && ours(imported)
	}},
	{"what is estimated is what was released, and public: there is no way to a row or a statistic",
		func(f file, imported string) bool { return !f.test && in(f.dir, "estimate") && ours(imported) }},
	{"words are found without grammar or catalog", func(f file, imported string) bool {
		return !f.test && in(f.dir, "parser/lex") &&
			(ours(imported) && trim(imported) != "sqlstate" || strings.Contains(imported, "pg_query"))
	}},
	{"masks of the catalog know no statement of the parser's", func(f file, imported string) bool {
		return !f.test && in(f.dir, "parser/shadow", "parser/tree") && ours(imported) &&
			!in(trim(imported), "parser/tree", "parser/lex", "sqlstate", "internal/hook")
	}},
	{"wire imports sqlstate and nothing else of ours", func(f file, imported string) bool {
		return !f.test && in(f.dir, "wire") && ours(imported) && !in(trim(imported), "sqlstate", "wire")
	}},
	{"who may come in is decided without a session", func(f file, imported string) bool {
		return !f.test && in(f.dir, "wire/auth") && ours(imported) && trim(imported) != "sqlstate"
	}},
	{"the joint account knows privacy, sensitivity and nothing else of ours", func(f file, imported string) bool {
		return !f.test && in(f.dir, "privacy/joint") && ours(imported) && !in(trim(imported), "privacy", "sensitivity")
	}},
	{"an audit knows no store", func(f file, imported string) bool {
		return !f.test && in(f.dir, "ledger/audit") &&
			(ours(imported) && trim(imported) != "privacy" || in(imported, "database/sql"))
	}},
	{"the law of twins knows policies, samplers and nothing else of ours", func(f file, imported string) bool {
		return !f.test && f.dir == "twin" && ours(imported) &&
			!in(trim(imported), "policy", "mechanism", "privacy", "internal/hook")
	}},
	{"the law of columns that are shown row by row knows nothing of ours", func(f file, imported string) bool {
		return !f.test && f.dir == "channel" && ours(imported)
	}},
	{"how columns are shown is worked out without a database", func(f file, imported string) bool {
		return !f.test && f.dir == "twin/columns" && ours(imported) &&
			!in(trim(imported), "channel", "policy", "twin")
	}},
	{"configuration knows YAML, what is misspelt, and nothing else of ours", func(f file, imported string) bool {
		return !f.test && in(f.dir, "internal/config") && ours(imported) &&
			!in(trim(imported), "internal/nearest", "internal/strictyaml")
	}},
	{"what is known when a policy is loaded is no session's, and has no price", func(f file, imported string) bool {
		return !f.test && in(f.dir, "dataset") && ours(imported) &&
			in(trim(imported), "wire", "pipeline", "ledger", "privacy/joint")
	}},
	{"what is reused knows no session, and is asked of nobody by itself", func(f file, imported string) bool {
		return !f.test && f.dir == "reuse" && ours(imported) &&
			in(trim(imported), "wire", "pipeline", "upstream", "parser")
	}},
	{"a statement is read without a plan", func(f file, imported string) bool {
		return !f.test && in(f.dir, "parser") && ours(imported) && in(trim(imported), "planner")
	}},
	{"SQL and mathematics know no protocol", func(f file, imported string) bool {
		return !f.test && in(f.dir, "parser", "planner", "sensitivity", "mechanism", "model") &&
			(ours(imported) && in(trim(imported), "wire", "pipeline", "upstream") ||
				strings.HasSuffix(imported, "/pgproto3"))
	}},
	{"a quote knows no session and nothing of who pays", func(f file, imported string) bool {
		return !f.test && in(f.dir, "quote", "fit") && ours(imported) &&
			in(trim(imported), "wire", "pipeline", "ledger")
	}},
	{"what operators see is numbers that they are given: there is no way to a row, a statistic or a statement",
		func(f file, imported string) bool {
			return !f.test && in(f.dir, "admin") && ours(imported) && trim(imported) != "admin"
		}},
	{"what was spent knows no session, no text and no row", func(f file, imported string) bool {
		return !f.test && in(f.dir, "account") && ours(imported) &&
			in(trim(imported), "wire", "pipeline", "parser", "upstream", "answer")
	}},
	{"an answer knows no session, no text and no protocol", func(f file, imported string) bool {
		return !f.test && in(f.dir, "answer", "virtual", "explain") && ours(imported) &&
			in(trim(imported), "wire", "pipeline", "parser")
	}},
	{"a preview knows no session and no protocol", func(f file, imported string) bool {
		return !f.test && in(f.dir, "preview") && ours(imported) && in(trim(imported), "wire", "pipeline")
	}},
	{"what names mean is asked by whoever has a session", func(f file, imported string) bool {
		return !f.test && in(f.dir, "meaning", "twin/told") && ours(imported) &&
			in(trim(imported), "wire", "pipeline", "answer", "account", "ledger")
	}},
	{"a cache does not know what it keeps", func(f file, imported string) bool {
		return !f.test && in(f.dir, "internal/cache") && ours(imported)
	}},
	{"a program is not imported", func(_ file, imported string) bool {
		return ours(imported) && in(trim(imported), "cmd")
	}},
	{"what is for tests stays there", func(f file, imported string) bool {
		return ours(imported) && in(trim(imported), "test", "examples") && !f.test && !in(f.dir, "test", "cmd/demo")
	}},
	{"mechanisms as published are for comparison", func(f file, imported string) bool {
		return ours(imported) && in(trim(imported), "mechanism/published") && !f.test && !in(f.dir, "test")
	}},
	{"secret random numbers are made where noise and keys are", func(f file, imported string) bool {
		return imported == "crypto/rand" && !f.test &&
			!in(f.dir, "mechanism", "wire", "ledger", "cmd/proxy", "twin/build", "test/certs",
				"test/serving")
	}},
	{"predictable random numbers are for tests", func(f file, imported string) bool {
		return in(imported, "math/rand") && !f.test && !in(f.dir, "test")
	}},
}

// maxLines is the length beyond which a file should be two.
const maxLines = 400

// lengthy are the files that may be longer, with the reason.
var lengthy = map[string]string{}

// elsewhere are texts that mean something only on somebody's own machine.
var elsewhere = []string{"/work" + "/main", "/work" + "/shared", "DESIGN" + ".md", "MATH" + ".md"}

// literalCode finds an error code that is written out where it has a name.
var literalCode = regexp.MustCompile(`sqlstate\.(New\(|Is\([^()]*, )"`)

// Check returns what breaks the rules in the repository whose files are in root, one line each, in order.
func Check(root fs.FS) ([]string, error) {
	var found []string
	seen := make(map[string]bool)
	err := walk(root, func(name, text string) error {
		lines, problems, err := checkFile(name, text)
		seen[name] = lines > maxLines
		found = append(found, problems...)
		return err
	})
	for name := range lengthy {
		if !seen[name] {
			found = append(found, name+": is on the list of lengthy files, but is not one")
		}
	}
	slices.Sort(found)
	return found, err
}

// checkFile returns the lines of a file, and what is wrong with them and with its imports.
func checkFile(name, text string) (lines int, problems []string, err error) {
	for i, line := range strings.Split(text, "\n") {
		for _, e := range elsewhere {
			if strings.Contains(line, e) {
				problems = append(problems, fmt.Sprintf("%s:%d: mentions %s", name, i+1, e))
			}
		}
	}

	if !in(path.Ext(name), ".go", ".sh", ".sql") || strings.Contains(name, "testdata/") {
		return 0, problems, nil
	}
	lines = strings.Count(text, "\n")
	if _, ok := lengthy[name]; lines > maxLines && !ok {
		problems = append(problems, fmt.Sprintf("%s: has %d lines, more than %d", name, lines, maxLines))
	}
	if path.Ext(name) != ".go" {
		return lines, problems, nil
	}

	// Only imports are looked at: everything else is for other checks.
	parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return lines, problems, err
	}
	f := file{dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go")}
	if !f.test && literalCode.MatchString(text) {
		problems = append(problems, name+": writes an SQLSTATE out that package sqlstate has or should have a name for")
	}

	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return lines, problems, err
		}
		for _, r := range rules {
			if r.forbids(f, imported) {
				problems = append(problems, fmt.Sprintf("%s: imports %s: %s", name, imported, r.name))
			}
		}
	}
	return lines, problems, nil
}

func ours(imported string) bool { return strings.HasPrefix(imported, module) }

func trim(imported string) string { return strings.TrimPrefix(imported, module) }

// in is true if the path is one of dirs or below one.
func in(path string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
}
