package main

import (
	"context"
	"errors"
	"io"

	"fugu/internal/config"
	"fugu/policy"
)

// schema prints the JSON Schema of policy files or of fugu.yaml.
func schema(_ context.Context, args []string, stdout, stderr io.Writer) error {
	fs, err := flagsAlone("schema", args, stderr, nil)
	if err != nil {
		return err
	}
	text := map[string][]byte{"policy": policy.Schema, "config": config.Schema}[fs.Arg(0)]
	if fs.NArg() != 1 || text == nil {
		return usageError{errors.New(`say "fugu schema policy" or "fugu schema config"`)}
	}
	_, err = stdout.Write(text)
	return err
}
