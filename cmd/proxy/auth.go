package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"fugu/internal/config"
	"fugu/wire/auth"
)

// door is what stands between the network and a session, as the configuration says: encryption, and how clients prove
// who they are. Its files can be read again while it is in use.
type door struct {
	config       *config.Config
	tls          *auth.TLS // nil: none is offered
	auth         auth.Method
	scram        *auth.SCRAM        // in auth; nil: it is not asked
	certificates *auth.Certificates // likewise
	users        auth.Users         // when it was opened; nil: no file says who there is
	warnings     []string
	seen         string // the state of the files when they were read
}

// openDoor reads all files. Who serves also makes the secret that is to be kept, where there is none yet.
func openDoor(c *config.Config, a access) (*door, error) {
	d := &door{config: c}
	d.seen = d.state()

	if c.TLS.Mode != "disable" && c.TLS.Certificate != "" {
		t, err := auth.NewTLS(auth.TLSFiles{Certificate: c.TLS.Certificate, Key: c.TLS.Key, ClientCA: c.TLS.ClientCA},
			c.TLS.Mode == "require")
		if err != nil {
			return nil, err
		}
		if d.tls = t; !t.Binds() && c.Auth.Method == "scram-sha-256" {
			d.warnings = append(d.warnings, "the signature of tls.certificate has no hash function of its own, "+
				"so that SCRAM-SHA-256-PLUS is not offered")
		}
	}

	users, names, err := d.files()
	if err != nil {
		return nil, err
	}
	d.users = users

	switch c.Auth.Method {
	case "trust":
		d.auth = auth.Trust{}
	case "scram-sha-256":
		d.scram = auth.NewSCRAM(users, d.secret(users, a))
		d.auth = d.scram
	case "cert":
		d.certificates = auth.NewCertificates(names, users)
		d.auth = d.certificates
	default:
		return nil, fmt.Errorf("auth.method %q is not supported", c.Auth.Method)
	}

	// A certificate may be asked for beside another method: both have to agree.
	if c.TLS.ClientCert != "" && d.certificates == nil {
		bearer := auth.Named
		if c.TLS.ClientCert == "verify-ca" {
			bearer = auth.Anyone
		}
		d.certificates = auth.NewCertificatesBeside(d.auth, bearer, names, users)
		d.auth = d.certificates
	}
	return d, nil
}

// secret is what verifiers of users that do not exist are made from. Without a file to keep it in, it is worked out
// from the users, and changes when they do and the proxy is started anew.
func (d *door) secret(users auth.Users, a access) []byte {
	path := d.config.Auth.Secret
	if path == "" {
		path = d.config.Auth.Users + ".secret"
	}
	if a != toServe {
		return users.Secret()
	}
	secret, err := auth.KeptSecret(path)
	if err != nil {
		d.warnings = append(d.warnings, fmt.Sprintf(
			"who watches logins over a restart with other users may learn which users exist: %v", err))
		return users.Secret()
	}
	return secret
}

// files reads who there is. nil users: everybody, of those whom a certificate names.
func (d *door) files() (users auth.Users, names auth.Names, err error) {
	if d.config.Auth.Users != "" && d.config.Auth.Method != "trust" {
		users, err = auth.ReadUsers(d.config.Auth.Users)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("%w: fugu user add NAME makes it, with a password", err)
		} else if err != nil {
			return nil, nil, err
		}
	}
	if d.config.Auth.Certificates != "" {
		if names, err = auth.ReadNames(d.config.Auth.Certificates); err != nil {
			return nil, nil, err
		}
	}
	return users, names, nil
}

// reload reads the files again. What is wrong leaves in force what was read before: users, or TLS.
func (d *door) reload() error {
	users, names, err := d.files()
	if err == nil {
		if d.scram != nil {
			d.scram.Replace(users)
		}
		if d.certificates != nil {
			d.certificates.Replace(names, users)
		}
	}
	if d.tls != nil {
		err = errors.Join(err, d.tls.Reload())
	}
	return err
}

// watchEvery is how often files are looked at: as often as they may be changed in two steps, and no more.
const watchEvery = 2 * time.Second

// watch calls changed whenever one of the files has changed, until ctx ends.
func (d *door) watch(ctx context.Context, changed func()) {
	every(ctx, watchEvery, func() {
		if now := d.state(); now != d.seen {
			d.seen = now
			changed()
		}
	})
}

// state tells one state of the files from another: what their names lead to, its time and its size.
func (d *door) state() string {
	var state string
	who, tls := d.config.Auth, d.config.TLS
	for _, path := range []string{who.Users, who.Certificates, tls.Certificate, tls.Key, tls.ClientCA} {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			state += "none\n"
			continue
		}
		state += fmt.Sprintf("%d %d %v\n", info.ModTime().UnixNano(), info.Size(), info.Mode())
	}
	return state
}
