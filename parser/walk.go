package parser

import (
	"reflect"
	"slices"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// inspect calls f for m and every message below it, parents first; below a message for which f is false it does not go.
func inspect(m protoreflect.Message, f func(protoreflect.Message) bool) {
	if !m.IsValid() || !f(m) {
		return
	}
	below(m, func(c proto.Message) { inspect(c.ProtoReflect(), f) })
}

// below calls f for every message directly below m, in the order of the grammar's structures.
func below(m protoreflect.Message, f func(proto.Message)) {
	v := reflect.ValueOf(m.Interface()).Elem()
	for _, i := range layoutOf(v.Type()).children {
		eachMessage(v.Field(i), f)
	}
}

// eachMessage calls f for the messages that a field holds.
func eachMessage(v reflect.Value, f func(proto.Message)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			f(v.Interface().(proto.Message))
		}
	case reflect.Slice:
		for i := range v.Len() {
			f(v.Index(i).Interface().(proto.Message))
		}
	case reflect.Interface: // a oneof, which holds a wrapper of one field
		if !v.IsNil() {
			if w := v.Elem().Elem().Field(0); w.Kind() == reflect.Pointer {
				eachMessage(w, f)
			}
		}
	}
}

// sameTree compares two trees up to the places where their nodes stood in the text.
func sameTree(a, b *pg.Node) bool { return sameValue(reflect.ValueOf(a), reflect.ValueOf(b)) }

// sameValue compares two values of one type. An empty list is the same as none.
func sameValue(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		return a.IsNil() && b.IsNil() || !a.IsNil() && !b.IsNil() && sameMessage(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameValue(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		x, y := a.Elem(), b.Elem()
		return x.Type() == y.Type() && sameValue(x.Elem().Field(0), y.Elem().Field(0))
	case reflect.String:
		return a.String() == b.String()
	case reflect.Int32, reflect.Int64:
		return a.Int() == b.Int()
	case reflect.Uint32, reflect.Uint64:
		return a.Uint() == b.Uint()
	case reflect.Bool:
		return a.Bool() == b.Bool()
	case reflect.Float32, reflect.Float64:
		return a.Float() == b.Float()
	}
	return false // nothing else is in a tree
}

func sameMessage(a, b reflect.Value) bool {
	l := layoutOf(a.Type())
	for _, i := range l.own {
		if !sameValue(a.Field(i), b.Field(i)) {
			return false
		}
	}
	for _, i := range l.children {
		if !sameValue(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

// layout says which fields of a message's Go struct are what. Walking a tree by protobuf's own reflection would take
// longer than parsing it.
type layout struct {
	children []int // messages, lists of messages, and what is one of several
	own      []int // values, but for the places in the text
}

var layouts sync.Map // reflect.Type to *layout, as many as the grammar has kinds of nodes

// places are the fields that say where a node stood in the text; as text they are something else.
var places = []string{"Location", "ArgLocation", "StmtLocation", "StmtLen"}

func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l := new(layout)
	for i := range t.NumField() {
		f := t.Field(i)
		kind := f.Type.Kind()
		switch {
		case !f.IsExported():
		case kind == reflect.Pointer, kind == reflect.Interface, kind == reflect.Slice && f.Type.Elem().Kind() == reflect.Pointer:
			l.children = append(l.children, i)
		case kind == reflect.Int32 && slices.Contains(places, f.Name):
		default:
			l.own = append(l.own, i)
		}
	}
	layouts.Store(t, l)
	return l
}
