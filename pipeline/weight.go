package pipeline

import (
	"reflect"
	"unsafe"

	"fugu/dataset"
	"fugu/planner"
	"fugu/policy"
)

// shared are the types that outlive every cache entry: what an entry points to of them does not count as its own.
var shared = map[reflect.Type]bool{
	reflect.TypeFor[*planner.Table]():     true,
	reflect.TypeFor[*policy.Policy]():     true,
	reflect.TypeFor[*dataset.Protected](): true,
	reflect.TypeFor[*dataset.Network]():   true,
	reflect.TypeFor[*dataset.Snapshot]():  true,
	reflect.TypeFor[*Snapshot]():          true,
	reflect.TypeFor[reflect.Type]():       true,
}

// weight is the memory that a value keeps alive, in bytes, about: everything that can be reached from it, once, but for
// what is shared. What several values hold together counts for each.
func weight(v any) int { return reached{}.size(reflect.ValueOf(v)) }

// reached are the blocks of memory that were counted.
type reached map[unsafe.Pointer]bool

func (r reached) size(v reflect.Value) int {
	if !v.IsValid() {
		return 0
	}
	return int(v.Type().Size()) + r.below(v)
}

// below is what v points to, without v itself.
func (r reached) below(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Pointer:
		if !shared[v.Type()] && r.fresh(v.UnsafePointer()) {
			n = r.size(v.Elem())
		}
	case reflect.Interface:
		if !shared[v.Type()] {
			n = r.size(v.Elem())
		}
	case reflect.Slice:
		if !r.fresh(v.UnsafePointer()) {
			return 0
		}
		n = v.Cap() * int(v.Type().Elem().Size())
		fallthrough
	case reflect.Array:
		if flat(v.Type().Elem().Kind()) {
			return n
		}
		for i := range v.Len() {
			n += r.below(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += r.below(v.Field(i))
		}
	case reflect.Map:
		if !r.fresh(v.UnsafePointer()) {
			return 0
		}
		for it := v.MapRange(); it.Next(); {
			n += 2 * (r.size(it.Key()) + r.size(it.Value()))
		}
	}
	return n
}

// fresh reports whether a block is met for the first time.
func (r reached) fresh(p unsafe.Pointer) bool {
	if p == nil || r[p] {
		return false
	}
	r[p] = true
	return true
}

// flat reports whether values of a kind point to nothing.
func flat(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Complex128 }
