package tree

import (
	"reflect"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Reads reports whether SQL text reads as the tree, up to the places where its nodes stood. The text's own tree is
// taken as JSON, which libpg_query writes in a fifth of the time that it takes for protobuf's form, and compared as it
// stands: every field of the tree in its order, and nothing besides. What is not as expected is a difference.
func Reads(sql string, tree *pg.ParseResult) (bool, error) {
	return ReadsAt(sql, tree, nil)
}

// ReadsAt is Reads, and tells where each node that has a place stands in the text, and where it stood before.
func ReadsAt(sql string, tree *pg.ParseResult, at func(now, before int32)) (bool, error) {
	json, err := pg.ParseToJSON(sql)
	if err != nil {
		return false, err
	}
	r := rest{json, at}
	return r.message(reflect.ValueOf(tree)), nil
}

// rest is the part of a JSON text that is not compared yet. libpg_query writes it without spaces, and leaves out what
// is nothing.
type rest struct {
	text string
	at   func(now, before int32) // nil, or told of the places
}

func (r *rest) take(token string) bool {
	after, ok := strings.CutPrefix(r.text, token)
	r.text = after
	return ok
}

// message reads an object whose fields are those of v, in their order. A field that is empty is left out of the text.
func (r *rest) message(v reflect.Value) bool {
	if v.IsNil() || !r.take("{") {
		return false
	}
	v = v.Elem()

	// Places are not compared: they are those of another text.
	comma := ""
	for _, f := range layoutOf(v.Type()).fields {
		value := v.Field(f.index)
		if value.Kind() == reflect.Interface && !value.IsNil() { // a oneof
			wrapper := value.Elem().Elem()
			f = layoutOf(wrapper.Type()).fields[0]
			value = wrapper.Field(f.index)
		}
		switch {
		case f.key != "" && strings.HasPrefix(r.text, comma) && strings.HasPrefix(r.text[len(comma):], f.key):
			r.text = r.text[len(comma)+len(f.key):]
			if !r.value(f, value) {
				return false
			}
			comma = ","
		case !f.place && !empty(value):
			return false
		}
	}
	return r.take("}")
}

func empty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 }

func (r *rest) value(f field, v reflect.Value) bool {
	switch kind := v.Kind(); {
	case f.place:
		after := strings.TrimLeft(r.text, "-0123456789")
		if r.at != nil && f.node {
			if now, err := strconv.ParseInt(r.text[:len(r.text)-len(after)], 10, 32); err == nil {
				r.at(int32(now), int32(v.Int()))
			}
		}
		r.text = after
		return true
	case f.names != nil:
		name, ok := f.names[v.Int()]
		return ok && r.take(name)
	case kind == reflect.Pointer:
		return r.message(v)
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Pointer:
		return r.list(v)
	case kind == reflect.String:
		return r.string(v.String())
	case kind == reflect.Bool:
		return r.take(strconv.FormatBool(v.Bool()))
	case v.CanInt():
		return r.take(strconv.FormatInt(v.Int(), 10))
	case v.CanUint():
		return r.take(strconv.FormatUint(v.Uint(), 10))
	}
	return false // nothing else is in a tree
}

func (r *rest) list(v reflect.Value) bool {
	if !r.take("[") {
		return false
	}
	for i := range v.Len() {
		if i > 0 && !r.take(",") || !r.message(v.Index(i)) {
			return false
		}
	}
	return r.take("]")
}

// string takes a string that stands for want. libpg_query escapes single bytes.
func (r *rest) string(want string) bool {
	if !r.take(`"`) {
		return false
	}
	for i := range len(want) {
		switch c := want[i]; {
		case c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>':
			if r.text == "" || r.text[0] != c {
				return false
			}
			r.text = r.text[1:]
		case !r.take(escapes[c]):
			return false
		}
	}
	return r.take(`"`)
}

// escapes are the bytes that do not stand for themselves.
var escapes = func() (escapes [256]string) {
	for c := range escapes {
		escapes[c] = `\u00` + strconv.FormatInt(int64(c)>>4, 16) + strconv.FormatInt(int64(c)&15, 16)
	}
	for c, s := range map[byte]string{'\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '"': `\"`,
		'\\': `\\`} {
		escapes[c] = s
	}
	return escapes
}()
