package compose

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// prometheus is what of its configuration hangs together with other files.
type prometheus struct {
	Rules  []string `yaml:"rule_files"`
	Scrape []struct {
		Authorization struct {
			Credentials string `yaml:"credentials_file"`
		} `yaml:"authorization"`
		Static []struct {
			Targets []string `yaml:"targets"`
		} `yaml:"static_configs"`
	} `yaml:"scrape_configs"`
}

// grafana is where its source of data is.
type grafana struct {
	Sources []struct {
		URL string `yaml:"url"`
	} `yaml:"datasources"`
}

const (
	compose    = "docker-compose.yml"
	scraping   = "examples/monitoring/prometheus.yml"
	source     = "examples/monitoring/grafana/source.yml"
	dockerfile = "Dockerfile"
)

// Prometheus asks the address that the proxy answers at, with the token that it has, and Grafana asks Prometheus. Each
// planted mistake is found.
func TestMonitoring(t *testing.T) {
	texts := map[string]string{}
	for _, name := range []string{compose, scraping, source, dockerfile} {
		texts[name] = read(t, name)
	}
	for _, f := range monitoringFindings(texts) {
		t.Error(f)
	}
	for _, c := range []struct{ file, old, new, want string }{
		{compose, "FUGU_ADMIN: 0.0.0.0:6433", "FUGU_ADMIN: 0.0.0.0:6434", "fugu:6433 is not where fugu answers"},
		{compose, "FUGU_ADMIN: 0.0.0.0", "FUGU_ADMIN: 127.0.0.1", "fugu:6433 is not where fugu answers"},
		{scraping, "fugu:6433", "proxy:6433", "no service proxy"},
		{scraping, "admin.token", "other.token", "the token of fugu is not /run/operators/other.token"},
		{compose, "operators:/run/operators", "ledger:/run/operators", "the token of fugu is not"},
		{compose, `user: "10001"`, `user: "10002"`, "may not read the token"},
		{dockerfile, "--uid 10001", "--uid 10003", "may not read the token"},
		{scraping, "alerts.yml", "alarms.yml", "no rules alarms.yml"},
		{source, "prometheus:9090", "prom:9090", "no service prom"},
		{compose, "fugu.json:/var/lib/grafana/dashboards", "fugu.json:/var/lib/boards", "no dashboard"},
	} {
		with := map[string]string{}
		for name, text := range texts {
			with[name] = text
		}
		if with[c.file] = strings.Replace(texts[c.file], c.old, c.new, 1); with[c.file] == texts[c.file] {
			t.Errorf("%s does not have %q", c.file, c.old)
		}
		got := monitoringFindings(with)
		if !slices.ContainsFunc(got, func(f string) bool { return strings.Contains(f, c.want) }) {
			t.Errorf("%q for %q: found %q, want %q", c.new, c.old, got, c.want)
		}
	}
}

var userID = regexp.MustCompile(`--uid (\d+)`)

// monitoringFindings is what is wrong between the services of the profile monitoring, their configurations and the
// proxy.
func monitoringFindings(texts map[string]string) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	var f file
	var p prometheus
	var g grafana
	for name, into := range map[string]any{compose: &f, scraping: &p, source: &g} {
		if err := yaml.Unmarshal([]byte(texts[name]), into); err != nil {
			add("%s: %v", name, err)
		}
	}
	scraper := f.Services["prometheus"]
	for _, rules := range p.Rules {
		if !exists(path.Join(path.Dir(scraping), rules)) {
			add("no rules %s", rules)
		}
	}
	for _, s := range p.Scrape {
		for _, target := range s.Static[0].Targets {
			host, port, err := net.SplitHostPort(target)
			proxy, ok := f.Services[host]
			if err != nil || !ok {
				add("no service %s", host)
				continue
			}
			if proxy.Environment["FUGU_ADMIN"] != net.JoinHostPort("0.0.0.0", port) {
				add("%s is not where %s answers operators", target, host)
			}
			// The same file of the same volume.
			token := s.Authorization.Credentials
			if v := volumeOf(scraper, token); v == "" || v != volumeOf(proxy, proxy.Environment["FUGU_ADMIN_TOKEN"]) {
				add("the token of %s is not %s", host, token)
			}
			if id := userID.FindStringSubmatch(texts[dockerfile]); id == nil || id[1] != scraper.User {
				add("prometheus runs as %s and may not read the token", scraper.User)
			}
		}
	}

	for _, s := range g.Sources {
		if u, err := url.Parse(s.URL); err != nil || f.Services[u.Hostname()].Image == "" {
			add("no service %s", u.Hostname())
		}
	}
	if volumeOf(f.Services["grafana"], "/var/lib/grafana/dashboards/fugu.json") == "" {
		add("no dashboard where Grafana looks for it")
	}
	return all
}

// volumeOf names what a path in a service's container is, by the volume or file that is mounted there; empty: nothing.
func volumeOf(s service, name string) string {
	for _, v := range s.Volumes {
		parts := strings.Split(v, ":")
		if rest, ok := strings.CutPrefix(name, parts[1]); ok && (rest == "" || rest[0] == '/') {
			return parts[0] + rest
		}
	}
	return ""
}
