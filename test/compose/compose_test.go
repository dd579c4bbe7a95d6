package compose

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const root = "../.."

// file is what docker-compose.yml may contain. Its keys are those of the Compose specification.
type file struct {
	Services map[string]service  `yaml:"services"`
	Volumes  map[string]struct{} `yaml:"volumes"`
}

type service struct {
	Image       string                `yaml:"image"`
	Build       string                `yaml:"build"`
	Profiles    []string              `yaml:"profiles"`
	Command     string                `yaml:"command"`
	User        string                `yaml:"user"`
	Environment map[string]string     `yaml:"environment"`
	Volumes     []string              `yaml:"volumes"`
	Ports       []string              `yaml:"ports"`
	Restart     string                `yaml:"restart"`
	ReadOnly    bool                  `yaml:"read_only"`
	Tmpfs       []string              `yaml:"tmpfs"`
	CapDrop     []string              `yaml:"cap_drop"`
	Security    []string              `yaml:"security_opt"`
	DependsOn   map[string]dependency `yaml:"depends_on"`
	Healthcheck struct {
		Test     string `yaml:"test"`
		Interval string `yaml:"interval"`
		Timeout  string `yaml:"timeout"`
		Retries  int    `yaml:"retries"`
	} `yaml:"healthcheck"`
}

type dependency struct {
	Condition string `yaml:"condition"`
}

func TestRepository(t *testing.T) {
	for _, f := range findings(read(t, "docker-compose.yml"), read(t, "Dockerfile")) {
		t.Error(f)
	}
}

// Each planted mistake is found.
func TestFindings(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"docker-compose.yml", "restart:", "restrat:", "unknown field"},
		{"docker-compose.yml", "read_only: true", "read_only: false", "fugu can write to its image"},
		{"docker-compose.yml", "cap_drop: [ALL]", "cap_drop: []", "fugu has powers"},
		{"docker-compose.yml", "no-new-privileges:true", "no-new-privileges:false", "fugu has powers"},
		{"docker-compose.yml", "postgres:15\n", "postgres:latest\n", "db runs postgres:latest"},
		{"docker-compose.yml", "build: .", "build: ./nowhere", "no build context nowhere"},
		{"docker-compose.yml", "build: .", "build: ./docs", "no Dockerfile in docs"},
		{"docker-compose.yml", "./examples/adult/docker-init.sh", "./examples/adult/init.sh",
			"db mounts examples/adult/init.sh"},
		{"docker-compose.yml", "- ledger:", "- ledgers:", "fugu mounts the volume ledgers"},
		{"docker-compose.yml", "./examples/adult:/etc/fugu:ro", "./docs:/etc/fugu:ro", "fugu.yaml"},
		{"docker-compose.yml", "FUGU_LEDGER", "FUGU_LEDGR", "FUGU_LEDGR: no key"},
		{"docker-compose.yml", "sqlite:/var/lib/fugu/", "sqlite:/tmp/", "is not in a volume"},
		{"docker-compose.yml", "guest-demo@db", "guest-demo@database", "FUGU_UPSTREAM_GUEST: no service database"},
		{"docker-compose.yml", "GUEST_PASSWORD: guest-demo", "GUEST_PASSWORD: other", "FUGU_UPSTREAM_GUEST: another " +
			"password"},
		{"docker-compose.yml", "@db:5432/adult\n      FUGU_LEDGER", "@db:5432/other\n      FUGU_LEDGER",
			"FUGU_UPSTREAM_READER: another database"},
		{"docker-compose.yml", "127.0.0.1:6432:6432", "127.0.0.1:6432:6431", "published"},
		{"docker-compose.yml", "dev/tcp/127.0.0.1/6432", "dev/tcp/127.0.0.1/6431", "healthcheck"},
		{"docker-compose.yml", "      db:\n        condition", "      database:\n        condition",
			"no service database"},
		{"docker-compose.yml", "service_healthy", "service_started", "does not wait"},
		{"docker-compose.yml", "KEEPER_PASSWORD: keeper-demo", "KEEPER_PASSWORD: other",
			"twin-build: FUGU_UPSTREAM_KEEPER: another password"},
		{"docker-compose.yml", "keeper-demo@twin-db", "keeper-demo@db",
			"twin-build: FUGU_UPSTREAM_KEEPER: another password"},
		{"docker-compose.yml", "service_completed_successfully", "service_healthy",
			"twin does not wait until twin-build"},
		{"docker-compose.yml", "twin build -c", "twins build -c", "twin-build: no command fugu twins"},
		{"docker-compose.yml", "build -c /etc/fugu/fugu-twin", "build -c /etc/fugu/fugu-twins", "fugu-twins.yaml"},
		{"docker-compose.yml", "sqlite:/var/lib/fugu/twin.db", "sqlite:/var/lib/fugu/other.db",
			"twin serves with another ledger than twin-build"},
		{"docker-compose.yml", "127.0.0.1:6442:6432", "127.0.0.1:6432:6432", "two services publish"},
		{"Dockerfile", "COPY go.mod", "COPY go.work go.mod", "copies go.work"},
		{"Dockerfile", "--from=build /etc", "--from=builder /etc", "no stage builder"},
		{"Dockerfile", "./cmd/proxy", "./cmd/fugu", "builds ./cmd/fugu"},
		{"Dockerfile", "USER fugu\n", "", "as root"},
		{"Dockerfile", "debian:bookworm-slim", "debian", "FROM debian has no version"},
		{"Dockerfile", "golang:1.26", "golang:1.25", "go.mod asks for 1.26"},
		{"Dockerfile", "golang:1.26.8-bookworm", "golang:1.26.8-trixie", "another C library"},
		{"Dockerfile", "HEALTHCHECK", "# HEALTHCHECK", "no healthcheck"},
		{"Dockerfile", "127.0.0.1/6432", "127.0.0.1/6433", "the healthcheck is not of port 6432"},
	} {
		texts := map[string]string{"docker-compose.yml": read(t, "docker-compose.yml"),
			"Dockerfile": read(t, "Dockerfile")}
		if !strings.Contains(texts[c.file], c.old) {
			t.Errorf("%s does not have %q", c.file, c.old)
			continue
		}
		texts[c.file] = strings.Replace(texts[c.file], c.old, c.new, 1)
		got := findings(texts["docker-compose.yml"], texts["Dockerfile"])
		if !slices.ContainsFunc(got, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%q for %q: found %q, want %q", c.new, c.old, got, c.want)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}

// findings is what is wrong with the two files.
func findings(composeText, dockerfile string) []string {
	var f file
	if err := yaml.UnmarshalWithOptions([]byte(composeText), &f, yaml.Strict()); err != nil {
		return []string{err.Error()}
	}
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(f.Services)) {
		s := f.Services[name]
		if s.Build != "" {
			if dir := filepath.Clean(s.Build); !exists(dir) {
				add("no build context %s", dir)
			} else if !exists(filepath.Join(dir, "Dockerfile")) {
				add("no Dockerfile in %s", dir)
			}
		}
		for _, v := range s.Volumes {
			source, _, _ := strings.Cut(v, ":")
			if !strings.HasPrefix(source, ".") {
				if _, ok := f.Volumes[source]; !ok {
					add("%s mounts the volume %s, which is not declared", name, source)
				}
			} else if path := filepath.Clean(source); !exists(path) {
				add("%s mounts %s, which does not exist", name, path)
			}
		}
		for other, d := range s.DependsOn {
			if o, ok := f.Services[other]; !ok {
				add("%s depends on %s: no service %s", name, other, other)
			} else if ends := o.Command != "" && !serves(o); ends && d.Condition != "service_completed_successfully" {
				add("%s does not wait until %s has done its work", name, other)
			} else if !ends && (d.Condition != "service_healthy" || o.Healthcheck.Test == "") {
				add("%s does not wait until %s is healthy", name, other)
			}
		}
	}
	all = append(all, hardenedFindings(f)...)
	return append(append(all, runFindings(f)...), dockerfileFindings(dockerfile)...)
}
