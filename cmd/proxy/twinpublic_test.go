package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/adult"
	"fugu/test/pgcluster"
)

// Public counts by a column, with the commands that a DBA types: preview shows the cells, a build counts them and
// refuses others, the margin comes out of the twin exactly and the secret does not, and what cannot be counted is
// refused.
func TestTwinWithPublicCounts(t *testing.T) {
	c := pgcluster.Shared(t)
	data, err := adult.Load(t.Context(), c, "publicly", adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), "publicly", "CREATE ROLE publicly_keeper LOGIN; "+
		"GRANT SELECT ON adult TO publicly_keeper; GRANT CREATE ON DATABASE publicly TO publicly_keeper"); err != nil {
		t.Fatal(err)
	}
	psql := func(dsn, sql string) string {
		ask := exec.CommandContext(t.Context(), c.Tool("psql"), "-X", "-A", "-t", "-q", "-c", sql, dsn)
		out, _ := ask.CombinedOutput()
		return strings.TrimSpace(string(out))
	}
	const bySex = "SELECT sex, count(*) FROM adult GROUP BY sex ORDER BY sex"
	truth := psql(c.DSN("publicly_keeper", "publicly"), bySex)
	var women, men int
	if n, err := fmt.Sscanf(truth, "Female|%d\nMale|%d", &women, &men); n != 2 || int64(women+men) != data.Rows {
		t.Fatalf("%q, %v", truth, err)
	}

	dir := t.TempDir()
	path := filepath.Join(dir, "fugu.yaml")
	config := fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, reader: %q, keeper: %q}\nauth: {method: trust}\n"+
		"policy: p.policy.yaml\nledger: sqlite:fugu.db\n", c.DSN("fugu_guest", "publicly"),
		c.DSN("fugu_reader", "publicly"), c.DSN("publicly_keeper", "publicly"))
	text := strings.Replace(fmt.Sprintf(twinPolicy, data.Rows), "known_rows: 0", "smallest: 0.05", 1)
	write := func(statement, values string) {
		public := fmt.Sprintf("public:\n  sexes: {statement: %q, values: {%s}}\n", statement, values)
		if err := errors.Join(os.WriteFile(path, []byte(config), 0o600),
			os.WriteFile(filepath.Join(dir, "p.policy.yaml"), []byte(text+public), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	says := func(exit int, want string, args ...string) {
		t.Helper()
		code, stdout, stderr := invoke(t, append(args, "-c", path)...)
		if code != exit || !strings.Contains(stdout+stderr, want) {
			t.Errorf("fugu %v: exit %d, without %q:\n%s%s", args, code, want, stdout, stderr)
		}
	}
	const grouped = "SELECT sex, count(*) FROM adult GROUP BY sex"

	write("SELECT count(*) FROM adult WHERE sex = 'Female'", fmt.Sprintf("count(*): %d", women))
	says(1, "counts by columns of its own can be public", "check")
	says(1, "counts by columns of its own can be public", "twin", "preview")
	says(1, "counts by columns of its own can be public", "twin", "build")
	write(grouped, fmt.Sprintf("count(*) at sex=Female: %d, count(*) at sex=Male: %d", women+1, men-1))
	says(1, fmt.Sprintf("%d rows have sex=Female, and the policy says that everybody knows of %d", women, women+1),
		"twin", "build")
	write(grouped, fmt.Sprintf("count(*) at sex=Female: %d", data.Rows))
	says(1, "no public count has", "twin", "build")

	write(grouped, fmt.Sprintf("count(*) at sex=Female: %d, count(*) at sex=Male: %d", women, men))
	says(0, "everybody knows sexes", "check")
	says(0, fmt.Sprintf("public: sex=Female: %d rows, exactly", women), "twin", "preview")
	says(0, "adult", "twin", "build")
	says(0, "sex=Female, high_income=true", "twin", "show")
	says(0, "", "twin", "export", filepath.Join(dir, "twin.sql"))
	certificate, err := os.ReadFile(filepath.Join(dir, "twin.sql.json"))
	if err != nil || !strings.Contains(string(certificate), "how many rows have each value of sex") {
		t.Errorf("the certificate does not say what is public: %v\n%s", err, certificate)
	}

	proxy, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	alice := "postgres://alice@" + proxy.address + "/publicly?sslmode=disable"
	if got := psql(alice, bySex); !strings.HasSuffix(got, truth) {
		t.Errorf("the margin is %s, and %s on the twin", truth, got)
	}
	const high = "SELECT sex, count(*) FROM adult WHERE income = '>50K' GROUP BY sex ORDER BY sex"
	if got, not := psql(alice, high), psql(c.DSN("publicly_keeper", "publicly"), high); strings.HasSuffix(got, not) {
		t.Errorf("the secret comes out as it is: %s", got)
	}
}
