package build

import (
	"fugu/policy"
	"fugu/twin"
)

// promiseOf is what a twin of a law hides.
func promiseOf(s twin.Spec) *policy.Promise {
	p := policy.Promise{KnownRows: s.KnownRows, Smallest: s.Smallest}
	for _, secret := range s.Secrets {
		secret.At, secret.PropertyAt = policy.Position{}, policy.Position{} // where it stands in the file says nothing
		p.Secrets = append(p.Secrets, secret.Secret)
	}
	return &p
}

// sameName leaves aside what two secrets of one name are about: by that rows have classes, which are compared row by
// row.
func sameName(_, _ policy.Secret) bool { return true }
