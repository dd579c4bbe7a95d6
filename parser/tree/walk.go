package tree

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Inspect calls f for m and every message below it, parents first; below a message for which f is false it does not go.
func Inspect(m proto.Message, f func(proto.Message) bool) {
	if v := reflect.ValueOf(m); !v.IsNil() {
		descend(m, v, f)
	}
}

func descend(m proto.Message, v reflect.Value, f func(proto.Message) bool) {
	if f(m) {
		eachBelow(v, func(m proto.Message, v reflect.Value) { descend(m, v, f) })
	}
}

// Below calls f for every message directly below m, in the order of the grammar's structures.
func Below(m proto.Message, f func(proto.Message)) {
	eachBelow(reflect.ValueOf(m), func(m proto.Message, _ reflect.Value) { f(m) })
}

// eachBelow calls f for every message directly below the one that v points to.
func eachBelow(v reflect.Value, f func(proto.Message, reflect.Value)) {
	v = v.Elem()
	for _, i := range layoutOf(v.Type()).children {
		eachMessage(v.Field(i), f)
	}
}

// eachMessage calls f for the messages that a field holds.
func eachMessage(v reflect.Value, f func(proto.Message, reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			f(v.Interface().(proto.Message), v)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if m := v.Index(i); !m.IsNil() {
				f(m.Interface().(proto.Message), m)
			}
		}
	case reflect.Interface: // a oneof, which holds a wrapper of one field
		if !v.IsNil() {
			if w := v.Elem().Elem().Field(0); w.Kind() == reflect.Pointer {
				eachMessage(w, f)
			}
		}
	}
}

// LocationOf is where m stood in the text, 0 where it does not say.
func LocationOf(m proto.Message) int32 {
	v := reflect.ValueOf(m).Elem()
	if i := layoutOf(v.Type()).location; i >= 0 {
		return int32(v.Field(i).Int())
	}
	return 0
}

// Unplace makes a node one that stood nowhere.
func Unplace(m proto.Message) {
	v := reflect.ValueOf(m).Elem()
	for _, f := range layoutOf(v.Type()).fields {
		if f.node {
			v.Field(f.index).SetInt(-1)
		}
	}
}

// layout says what the fields of a message's Go struct are. Walking a tree by protobuf's own reflection would take
// longer than parsing it.
type layout struct {
	fields   []field
	children []int // messages, lists of messages, and what is one of several
	location int   // -1: it has none
}

// field is one of a message's, or the one of the wrapper that a oneof holds.
type field struct {
	index int
	key   string           // as it stands in JSON; empty for a oneof
	place bool             // it says where a node stood in the text
	node  bool             // likewise, and not where a statement did
	names map[int64]string // of an enum's values, as they stand in JSON
}

var layouts sync.Map // reflect.Type to *layout, as many as the grammar has kinds of nodes

// places are the fields that say where a node stood in the text; as text they are something else.
var places = []string{"Location", "ArgLocation", "StmtLocation", "StmtLen"}

// layoutOf returns what walks have to know of a type, which is worked out once.
func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l := &layout{location: -1}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}

		kind := f.Type.Kind()
		if f.Name == "Location" && kind == reflect.Int32 {
			l.location = i
		}
		if kind == reflect.Pointer || kind == reflect.Interface || kind == reflect.Slice && f.Type.Elem().
			Kind() == reflect.Pointer {
			l.children = append(l.children, i)
		}

		// What says where in a text something stood is no part of what it means.
		place := kind == reflect.Int32 && slices.Contains(places, f.Name)
		l.fields = append(l.fields, field{i, jsonKey(f), place, place && !strings.HasPrefix(f.Name, "Stmt"),
			enumNames(f.Type)})
	}
	layouts.Store(t, l)
	return l
}

// jsonKey writes the key of a field in protobuf's JSON, with its colon.
func jsonKey(f reflect.StructField) string {
	name := ""
	for _, part := range strings.Split(f.Tag.Get("protobuf"), ",") {
		if n, ok := strings.CutPrefix(part, "json="); ok {
			name = n
		} else if n, ok := strings.CutPrefix(part, "name="); ok && name == "" {
			name = n
		}
	}
	if name == "" {
		return ""
	}
	return `"` + name + `":`
}

func enumNames(t reflect.Type) map[int64]string {
	enum, ok := reflect.Zero(t).Interface().(protoreflect.Enum)
	if !ok {
		return nil
	}
	names := map[int64]string{}
	values := enum.Descriptor().Values()
	for i := range values.Len() {
		names[int64(values.Get(i).Number())] = `"` + string(values.Get(i).Name()) + `"`
	}
	return names
}
