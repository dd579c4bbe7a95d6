// Command sbom writes what a Go program is made of, as a bill of materials in CycloneDX, for make package: go run
// ./internal/sbom PROGRAM.
//
// It reads what the linker has written into the program: the modules with their checksums, and the version of Go, whose
// standard library is one of them. C that a module brings along (the parser of pg_query_go, SQLite) is part of that
// module; the C library is not in the program, and is stated by the package that needs it. The same program gives the
// same bytes. The product does not link it.
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: sbom PROGRAM")
	}
	info, err := buildinfo.ReadFile(os.Args[1])
	if err == nil {
		err = write(os.Stdout, info)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// write writes the bill of a program.
func write(w io.Writer, info *debug.BuildInfo) error {
	program, err := component(&info.Main)
	if err != nil {
		return err
	}
	program.Type = cdx.ComponentTypeApplication
	goes, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ")
	parts := []cdx.Component{{Type: cdx.ComponentTypeLibrary, BOMRef: "pkg:golang/std@" + goes, Name: "std",
		Version: goes, PackageURL: "pkg:golang/std@" + goes}}
	for _, m := range info.Deps {
		part, err := component(m)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}

	// The program depends on all parts; how they depend on each other is not known.
	var refs []string
	for _, p := range parts {
		refs = append(refs, p.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &program}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
}

// component is a module, or what stands in its place.
func component(m *debug.Module) (cdx.Component, error) {
	if m.Replace != nil {
		m = m.Replace
	}
	version := cmp.Or(m.Version, "(devel)")
	url := "pkg:golang/" + m.Path
	if version != "(devel)" {
		url += "@" + version
	}
	out := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: m.Path, Version: version, PackageURL: url}
	if m.Sum == "" { // a program is not checked by itself
		return out, nil
	}

	// h1: and the base64 of a SHA-256 over the module's files (golang.org/x/mod/sumdb/dirhash).
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil || !strings.HasPrefix(m.Sum, "h1:") {
		return out, fmt.Errorf("%s has a checksum of another kind: %s", m.Path, m.Sum)
	}
	out.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	return out, nil
}
