package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"fugu/model/fitted"
	"fugu/policy"
	"fugu/upstream"
)

// ModelFile is where fugu fit puts what it has prepared for a dataset.
func ModelFile(dir, dataset string) string { return filepath.Join(dir, dataset+".model") }

// Header is the state of a policy and its references at this time.
func Header(ctx context.Context, p *policy.Policy, reader *upstream.Reader) (fitted.Header, error) {
	var references []fitted.Reference
	for _, t := range p.Tables {
		name := t.Reference.String()
		seen := slices.ContainsFunc(references, func(r fitted.Reference) bool { return r.Table == name })
		if t.Reference.Name == "" || seen {
			continue
		}
		rows, hash, err := reader.Contents(ctx, Quoted(t.Reference))
		if err != nil {
			return fitted.Header{}, err
		}
		references = append(references, fitted.Reference{Table: name, Rows: rows, Hash: hash})
	}
	return fitted.NewHeader(p.Dataset, p.Fingerprint, references), nil
}

// TakeOver takes from dir what fugu fit has prepared for the snapshot's policies as they are, from their references as
// they are. What does not hold for them is left alone, with a finding: models come from the references then.
func (s *Snapshot) TakeOver(ctx context.Context, dir string, reader *upstream.Reader) ([]upstream.Finding, error) {
	var findings []upstream.Finding
	for _, p := range s.Policies {
		path := ModelFile(dir, p.Dataset)
		a, err := fitted.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}

		// What was made of another policy or of other references is no model of these.
		if err == nil {
			var now fitted.Header
			if now, err = Header(ctx, p, reader); err == nil {
				err = a.Header.Fits(now)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
		}

		if err != nil {
			findings = append(findings, upstream.Finding{
				Message: fmt.Sprintf("what fugu fit has prepared for dataset %s is not used: %v", p.Dataset, err),
				Hint:    "run fugu fit again"})
			continue
		}
		s.Fitted[p] = a
	}
	return findings, nil
}
