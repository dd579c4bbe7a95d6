package joint

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// encoding is the version of the binary form: a byte, the number of rows and the width as varints, and compressed
//
//	groups; of each: cells, columns, the cell of each row + 1
//	of each column: the component of each cell, 1 if there are values, and these in eight planes
//
// as varints, but for the values of the rows that are in a cell: the first bytes of all of them, then the second, and
// so on, of which those that hardly vary compress.
const encoding = 1

// MarshalBinary encodes the terms.
func (t *Terms) MarshalBinary() ([]byte, error) {
	head := binary.AppendUvarint([]byte{encoding}, uint64(t.rows))
	head = binary.AppendUvarint(head, uint64(t.width))
	out := bytes.NewBuffer(head)
	z, err := flate.NewWriter(out, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}

	// Behind the head all is compressed.
	body := binary.AppendUvarint(nil, uint64(len(t.groups)))
	for _, g := range t.groups {
		body = binary.AppendUvarint(body, uint64(len(g.Columns[0].At)))
		body = binary.AppendUvarint(body, uint64(len(g.Columns)))
		for _, c := range g.Cells {
			body = binary.AppendUvarint(body, uint64(c+1))
		}
		for _, col := range g.Columns {
			for _, k := range col.At {
				body = binary.AppendUvarint(body, uint64(k))
			}
			if col.Values == nil {
				body = append(body, 0)
				continue
			}

			// Bytes of the same weight stand together: those of the exponents are much alike.
			body = append(body, 1)
			for shift := 56; shift >= 0; shift -= 8 {
				for r, v := range col.Values {
					if g.Cells[r] >= 0 {
						body = append(body, byte(math.Float64bits(v)>>shift))
					}
				}
			}
		}
	}

	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

var errEncoding = errors.New("joint: terms cannot be decoded")

// UnmarshalBinary decodes what MarshalBinary made, and checks it as NewTerms does.
func (t *Terms) UnmarshalBinary(data []byte) error {
	in := bytes.NewReader(data)
	version, err := in.ReadByte()
	if err != nil {
		return errEncoding
	}
	if version != encoding {
		return fmt.Errorf("%w: version %d", errEncoding, version)
	}

	// Sizes are checked before anything is made of them.
	rows, err1 := binary.ReadUvarint(in)
	width, err2 := binary.ReadUvarint(in)
	if err1 != nil || err2 != nil || rows < 1 || rows > maxRows || width < 1 || width > MaxComponents {
		return fmt.Errorf("%w: its size", errEncoding)
	}

	z := flate.NewReader(in)
	d := decoder{in: bufio.NewReader(z)}
	groups := d.groups(int(rows), int(width))
	if _, err := d.in.ReadByte(); d.err == nil && err != io.EOF {
		d.fail("more than there should be")
	}
	if d.err == nil && in.Len() > 0 {
		d.fail("more than there should be")
	}
	if d.err != nil {
		return d.err
	}

	decoded, err := NewTerms(int(rows), int(width), groups)
	if err != nil {
		return fmt.Errorf("%w: %w", errEncoding, err)
	}
	*t = *decoded
	return nil
}

// decoder reads until its first error.
type decoder struct {
	in  *bufio.Reader
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", errEncoding, what)
	}
}

// number reads a varint up to most.
func (d *decoder) number(most int) int {
	if d.err != nil {
		return 0
	}
	v, err := binary.ReadUvarint(d.in)
	if err != nil || v > uint64(most) {
		d.fail("a number")
		return 0
	}
	return int(v)
}

// groups reads the groups of terms over so many rows, with so many components.
func (d *decoder) groups(rows, width int) []Group {
	var out []Group
	entries := 0
	for range d.number(maxEntries / rows) {
		cells, columns := d.number(math.MaxInt16), d.number(MaxComponents)
		if entries += rows * (1 + columns); entries > maxEntries {
			d.fail("too many groups and columns")
		}
		if d.err != nil {
			return nil
		}

		// A row is in one cell of the group, or in none.
		g, inside := Group{Cells: make([]int16, rows)}, 0
		for r := range g.Cells {
			g.Cells[r] = int16(d.number(cells) - 1)
			if g.Cells[r] >= 0 {
				inside++
			}
			if d.err != nil {
				return nil
			}
		}

		for range columns {
			g.Columns = append(g.Columns, d.column(g.Cells, inside, cells, width))
			if d.err != nil {
				return nil
			}
		}

		out = append(out, g)
	}
	return out
}

// column reads a column of a group. inside is how many rows are in a cell.
func (d *decoder) column(in []int16, inside, cells, width int) Column {
	col := Column{At: make([]int, cells)}
	for c := range col.At {
		col.At[c] = d.number(width - 1)
	}
	if d.number(1) == 0 || d.err != nil {
		return col
	}
	planes := make([]byte, 8*inside)
	if _, err := io.ReadFull(d.in, planes); err != nil {
		d.fail("values")
		return col
	}

	// The bytes of the same weight stand together, the highest first.
	col.Values = make([]float64, len(in))
	i := 0
	for r, c := range in {
		if c < 0 {
			continue
		}
		bits := uint64(0)
		for plane := range 8 {
			bits = bits<<8 | uint64(planes[plane*inside+i])
		}
		col.Values[r] = math.Float64frombits(bits)
		i++
	}
	return col
}
