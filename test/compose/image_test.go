package compose

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// hardenedFindings are services that could do more than they have to: ours write to their volumes alone and have no
// powers; and images of others' without a version.
func hardenedFindings(f file) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(f.Services)) {
		s := f.Services[name]
		if s.Build == "" {
			if !versioned(s.Image) {
				all = append(all, name+" runs "+s.Image+", which is another one tomorrow")
			}
			continue
		}
		if !s.ReadOnly {
			all = append(all, name+" can write to its image")
		}
		if !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.Security, "no-new-privileges:true") {
			all = append(all, name+" has powers that it does not need")
		}
	}
	return all
}

// versioned reports whether an image is named with a tag or digest of its own.
func versioned(image string) bool {
	_, version, ok := strings.Cut(image, ":")
	return ok && version != "" && version != "latest"
}

var (
	fromLine   = regexp.MustCompile(`(?m)^FROM (\S+)`)
	goImage    = regexp.MustCompile(`^golang:([0-9]+\.[0-9]+)\.[0-9]+-([a-z]+)$`)
	goVersion  = regexp.MustCompile(`(?m)^go ([0-9]+\.[0-9]+)`)
	exposed    = regexp.MustCompile(`(?m)^EXPOSE ([0-9]+)$`)
	healthLine = regexp.MustCompile(`(?m)^HEALTHCHECK .*/([0-9]+)'$`)
)

// baseFindings is what is wrong with the images that a Dockerfile starts from, and with its healthcheck.
func baseFindings(text string) (all []string) {
	var releases []string // of Debian
	for _, m := range fromLine.FindAllStringSubmatch(text, -1) {
		image := m[1]
		if !versioned(image) {
			all = append(all, "Dockerfile: FROM "+image+" has no version")
		}
		if g := goImage.FindStringSubmatch(image); g != nil {
			releases = append(releases, g[2])
			mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
			if err != nil {
				return append(all, err.Error())
			}
			if want := goVersion.FindStringSubmatch(string(mod)); want == nil || want[1] != g[1] {
				all = append(all, "Dockerfile: Go is "+g[1]+", go.mod asks for "+want[1])
			}
		} else if release, ok := strings.CutPrefix(image, "debian:"); ok {
			releases = append(releases, strings.TrimSuffix(release, "-slim"))
		}
	}
	if len(slices.Compact(releases)) != 1 {
		all = append(all, "Dockerfile: what it builds has another C library than where it runs")
	}

	port, health := exposed.FindStringSubmatch(text), healthLine.FindStringSubmatch(text)
	if health == nil || port == nil {
		all = append(all, "Dockerfile: no healthcheck, or no port")
	} else if health[1] != port[1] {
		all = append(all, "Dockerfile: the healthcheck is not of port "+port[1])
	}
	return all
}

func dockerfileFindings(text string) []string {
	var all, stages []string
	user := ""
	all = append(all, baseFindings(text)...)
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "FROM":
			user = ""
			if len(words) == 4 && words[2] == "AS" {
				stages = append(stages, words[3])
			}
		case "USER":
			user = words[1]
		case "COPY":
			if stage, ok := strings.CutPrefix(words[1], "--from="); ok {
				if !slices.Contains(stages, stage) {
					all = append(all, "Dockerfile: no stage "+stage)
				}
				continue
			}
			for _, source := range words[1 : len(words)-1] {
				if !exists(source) {
					all = append(all, "Dockerfile copies "+source+", which does not exist")
				}
			}
		case "RUN":
			if target := words[len(words)-1]; slices.Contains(words, "build") && !exists(target) {
				all = append(all, "Dockerfile builds "+target+", which does not exist")
			}
		}
	}
	if user == "" {
		all = append(all, "Dockerfile: the image runs as root")
	}
	return all
}
