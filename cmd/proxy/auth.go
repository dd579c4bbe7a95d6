package main

import (
	"fmt"

	"fugu/config"
	"fugu/wire"
)

// authenticator is how clients prove who they are, as the configuration says.
func authenticator(c *config.Config) (wire.Authenticator, error) {
	switch c.Auth.Method {
	case "trust":
		return wire.Trust{}, nil
	case "scram-sha-256":
		users, err := wire.ReadUsers(c.Auth.Users)
		if err != nil {
			return nil, err
		}
		return wire.NewSCRAM(users)
	}
	return nil, fmt.Errorf("auth.method %q is not supported", c.Auth.Method)
}
