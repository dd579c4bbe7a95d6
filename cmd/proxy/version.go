package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
)

// release is the version that a build is given with -ldflags "-X main.release=...".
var release string

// version prints what runs: the release, or the revision it was built from, and what it was built with.
func version(_ context.Context, args []string, stdout, stderr io.Writer) error {
	asJSON := false
	fs, err := flagsAlone("version", args, stderr, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print JSON")
	})
	if err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usageError{errors.New(`say "fugu version"`)}
	}

	// A build from a directory that is no checkout has no revision.
	v := built()
	if asJSON {
		return printJSON(stdout, v)
	}
	fmt.Fprintf(stdout, "fugu %s (%s, %s)\n", v.Version, v.Go, v.Platform)
	if v.Revision != "" {
		fmt.Fprintf(stdout, "revision %s\n", v.Revision)
	}
	return nil
}

// binary is what an executable says of itself.
type binary struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source; -dirty: and what was changed since
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// String is version and revision in one line.
func (b binary) String() string { return strings.TrimSpace(b.Version + " " + b.Revision) }

// built reads what the linker has put into the binary.
func built() binary {
	v := binary{Version: release}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Go = info.GoVersion
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	v.Platform = settings["GOOS"] + "/" + settings["GOARCH"]
	v.Revision = settings["vcs.revision"]
	if v.Revision != "" && settings["vcs.modified"] == "true" {
		v.Revision += "-dirty"
	}
	v.Version = cmp.Or(v.Version, info.Main.Version, "(devel)")
	return v
}
