package fitted

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"fugu/planner"
)

// Header says what an artifact holds for.
type Header struct {
	Format     string      `json:"format"`
	Version    int         `json:"version"`
	Dataset    string      `json:"dataset"`
	Policy     string      `json:"policy"`     // the policy's fingerprint
	References []Reference `json:"references"` // in the order of the policy's tables
	At         time.Time   `json:"at"`         // when it was begun
}

// Reference is a reference table as it was when it was read.
type Reference struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Hash  string `json:"hash"` // of its columns and all its rows
}

const (
	format  = "fugu fit"
	version = 1
)

// NewHeader is the header of an artifact that is begun now.
func NewHeader(dataset, fingerprint string, references []Reference) Header {
	return Header{format, version, dataset, fingerprint, references, time.Now().UTC().Truncate(time.Second)}
}

// Part is the answer to one statement over the references.
type Part struct {
	Statement string      `json:"statement"` // of a client's, for which it was prepared
	Query     string      `json:"query"`     // over the references
	Rows      [][]*string `json:"rows"`      // in text form; null is NULL
}

// line is a line of the file: exactly one of Header, Part and Seal. Sum is the hash of the line's body and the Sum
// before.
type line struct {
	Sum    string          `json:"sum"`
	Header json.RawMessage `json:"header,omitempty"`
	Part   json.RawMessage `json:"part,omitempty"`
	Seal   json.RawMessage `json:"seal,omitempty"`
}

// Artifact is a complete and unaltered one.
type Artifact struct {
	Header Header
	Hash   string // of all its content
	rows   map[string][][]planner.Value
}

// Errors of Open; both mean that the file is not to be used.
var (
	ErrAltered  = errors.New("it was altered or damaged")
	ErrUnsealed = errors.New("it is not complete")
)

// Open reads an artifact and verifies it against itself. Whether it holds for a policy is for Fits to say.
func Open(path string) (*Artifact, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a := &Artifact{rows: map[string][][]planner.Value{}}
	got, err := read(f, func(p Part) { a.rows[p.Query] = values(p.Rows) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", path, err)
	case !got.sealed:
		return nil, fmt.Errorf("reading %s: %w", path, ErrUnsealed)
	}
	a.Header, a.Hash = got.header, got.sum
	return a, nil
}

// Fits says why an artifact made under h does not hold under now, the state of policy and references; nil if it does.
func (h Header) Fits(now Header) error {
	switch {
	case h.Format != format || h.Version != version:
		return fmt.Errorf("it has version %d of the format, and this is %d", h.Version, version)
	case h.Dataset != now.Dataset:
		return fmt.Errorf("it belongs to dataset %s", h.Dataset)
	case h.Policy != now.Policy:
		return errors.New("the policy has changed since")
	case !slices.Equal(h.References, now.References):
		for i, r := range now.References {
			if i >= len(h.References) || h.References[i] != r {
				return fmt.Errorf("the reference %s has changed since", r.Table)
			}
		}
		return errors.New("the references have changed since")
	}
	return nil
}

// Parts is the number of statements that are prepared.
func (a *Artifact) Parts() int { return len(a.rows) }

// Has reports whether the answer to a statement over the references is prepared.
func (a *Artifact) Has(query string) bool {
	if a == nil {
		return false
	}
	_, ok := a.rows[query]
	return ok
}

// Over answers what was prepared from the artifact, and asks q for the rest. A nil Artifact has nothing.
func (a *Artifact) Over(q planner.Querier) planner.Querier {
	if a == nil {
		return q
	}
	return prepared{a, q}
}

// prepared asks of a reference what an artifact has no answer to.
type prepared struct {
	artifact *Artifact
	planner.Querier
}

// Query implements planner.Querier. The rows are shared: nobody may change them.
func (o prepared) Query(ctx context.Context, sql string, params [][]byte, types []uint32) ([][]planner.Value, error) {
	if rows, ok := o.artifact.rows[sql]; ok && len(params) == 0 {
		return rows, nil
	}
	return o.Querier.Query(ctx, sql, params, types)
}

// content is what read has found beside the parts.
type content struct {
	header Header
	sum    string // of the last good line
	sealed bool
	end    int64 // offset behind the last good line
}

// read calls part for every part of a file up to its end or the first line that is not good. A line that ends in the
// middle, as a killed process leaves it, is no error: the file is not sealed then.
func read(r io.Reader, part func(Part)) (content, error) {
	var c content
	in := bufio.NewReader(r)
	for number := 0; ; number++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return c, nil
		} else if err != nil {
			return c, err
		}

		// The header comes first and once, and behind the seal there is nothing.
		l, err := parse(text, c.sum)
		if err != nil || c.sealed || (number == 0) != (l.Header != nil) {
			return c, fmt.Errorf("line %d: %w", number+1, ErrAltered)
		}
		switch {
		case l.Header != nil:
			err = json.Unmarshal(l.Header, &c.header)
		case l.Part != nil:
			var p Part
			if err = json.Unmarshal(l.Part, &p); err == nil {
				part(p)
			}
		default:
			c.sealed = true
		}

		if err != nil {
			return c, fmt.Errorf("line %d: %w", number+1, ErrAltered)
		}
		c.sum, c.end = l.Sum, c.end+int64(len(text))
	}
}

// parse reads one line, which must be as compose writes it.
func parse(text []byte, before string) (line, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return l, err
	}
	again, err := compose(l, before)
	if err != nil || !bytes.Equal(again, text) {
		return l, ErrAltered
	}
	return l, nil
}

// compose writes a line with its sum.
func compose(l line, before string) ([]byte, error) {
	l.Sum = before
	body, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	l.Sum = hex.EncodeToString(sum[:])
	text, err := json.Marshal(l)
	return append(text, '\n'), err
}

func values(rows [][]*string) [][]planner.Value {
	out := make([][]planner.Value, len(rows))
	for i, row := range rows {
		out[i] = make([]planner.Value, len(row))
		for j, v := range row {
			if out[i][j].Null = v == nil; v != nil {
				out[i][j].Text = *v
			}
		}
	}
	return out
}

func texts(rows [][]planner.Value) [][]*string {
	out := make([][]*string, len(rows))
	for i, row := range rows {
		out[i] = make([]*string, len(row))
		for j, v := range row {
			if !v.Null {
				out[i][j] = &v.Text
			}
		}
	}
	return out
}
