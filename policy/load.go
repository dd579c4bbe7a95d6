package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fugu/internal/strictyaml"
)

// Suffix is how the names of policy files in a directory end.
const Suffix = ".policy.yaml"

// Load reads a policy file, or every file of a directory whose name ends in Suffix and does not start with a dot, in
// the order of their names. Among them a dataset has one policy, and a table of a database is protected by one and is
// nobody's reference. An empty path and a directory with nothing in it are no policies, and no error. The error is of
// type Findings.
func Load(path string) ([]*Policy, error) {
	if path == "" {
		return nil, nil
	}
	files, err := policyFiles(path)

	// What is wrong with one file does not keep the findings of the others back.
	errs := []error{err}
	var policies []*Policy
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			errs = append(errs, unreadable(file, err))
			continue
		}
		r := &strictyaml.Report{File: file}
		p := decode(r, data)
		errs = append(errs, r.Err())
		policies = append(policies, p)
	}

	errs = append(errs, checkTogether(policies))
	if err := strictyaml.Join(path, errs...); err != nil {
		return nil, err
	}
	return policies, nil
}

// Parse reads the text of one policy file; name stands for it in findings. The error is of type Findings.
func Parse(name string, data []byte) (*Policy, error) {
	r := &strictyaml.Report{File: name}
	p := decode(r, data)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// policyFiles returns the file at a path, or the policy files of the directory there.
func policyFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, unreadable(path, err)
	}

	// A file whose name is almost right is reported: without it, its tables would be unprotected.
	var files []string
	var findings Findings
	for _, e := range entries {
		file, lower := filepath.Join(path, e.Name()), strings.ToLower(e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case strings.HasSuffix(e.Name(), Suffix):
			files = append(files, file)
		case strings.HasSuffix(lower, Suffix), strings.HasSuffix(lower, ".policy.yml"):
			findings = append(findings, Finding{
				File: file, Message: "looks like a policy but would not be read", Hint: "name it *" + Suffix,
			})
		}
	}

	if len(files) == 0 &&
		!slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }) {
		return nil, nil // it is empty: nothing is to be protected
	}
	if len(files) == 0 {
		findings = append(findings, Finding{
			File: path, Message: "no policy file in the directory", Hint: "name policy files *" + Suffix,
		})
	}

	if findings != nil {
		return files, findings
	}
	return files, nil
}

func unreadable(file string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	hint := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint = "write behind policy: in fugu.yaml where the policy is, as seen from there; fugu init DATABASE-URL " +
			"writes one"
	case errors.Is(err, fs.ErrPermission):
		hint = "let the user read it who runs fugu"
	}
	return Findings{{File: file, Message: fmt.Sprintf("cannot be read: %v", err), Hint: hint}}
}

// Resolve names the database of each policy that names none, which is that of the guest, and reports what the policies
// of one database have wrong together. Fingerprints stay. The error is of type Findings.
func Resolve(policies []*Policy, database string) error {
	for _, p := range policies {
		if p.Database == "" {
			p.Database = database
		}
	}
	return checkTogether(policies)
}

// place is a table of a database.
type place struct {
	database string
	table    QualifiedName
}

// checkTogether reports what only the policies together have wrong.
func checkTogether(policies []*Policy) error {
	datasets := map[string]*Policy{}
	tables := map[place]*Policy{}
	var errs []error
	for _, p := range policies {
		r := &strictyaml.Report{File: p.Source}

		if other, twice := datasets[p.Dataset]; twice && p.Dataset != "" {
			r.Add(p.datasetAt, "give each policy its own name", "dataset %s is already in %s", p.Dataset, other.Source)
		} else {
			datasets[p.Dataset] = p
		}

		for _, t := range p.Tables {
			if other := tables[place{p.Database, t.Qualified()}]; other != nil && other != p {
				if o, _ := other.Table(t.Qualified()); o.Answers != t.Answers {
					r.Add(t.At, "protect it in one policy only, with one of the two",
						"table %s has answers: %s, and answers: %s in %s: a table has a twin or noisy answers, never "+
							"both", t.Qualified(), t.Answers, o.Answers, other.Source)
					continue
				}
				r.Add(t.At, "protect a table in one policy only", "table %s is already protected by %s", t.Qualified(),
					other.Source)
			} else {
				tables[place{p.Database, t.Qualified()}] = p
			}
		}
		errs = append(errs, r.Err())
	}

	// A reference may be protected by any of them, so it is looked for once all tables are known.
	for _, p := range policies {
		r := &strictyaml.Report{File: p.Source}
		for _, t := range p.Tables {
			if other := tables[place{p.Database, t.Reference}]; other != nil && other != p {
				r.Add(t.ReferenceAt, referenceHint, "reference %s is a protected table of %s", t.Reference,
					other.Source)
			}
		}
		errs = append(errs, r.Err())
	}
	return strictyaml.Join("", errs...)
}
