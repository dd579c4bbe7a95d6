package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/adult"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

const bySex = "SELECT sex, count(*) FROM adult GROUP BY sex ORDER BY sex"

// Public counts by a column, with the commands that a DBA types: preview shows the cells, a build counts them and
// refuses others, the margin comes out of the twin exactly and the secret does not, and what cannot be counted is
// refused.
func TestTwinWithPublicCounts(t *testing.T) {
	patient.Test(t)
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
		out, _ := tool(t, c, "psql", "-XAtqc", sql, dsn)
		return strings.TrimSpace(out)
	}
	truth := psql(c.DSN("publicly_keeper", "publicly"), bySex)
	var women, men int
	if n, err := fmt.Sscanf(truth, "Female|%d\nMale|%d", &women, &men); n != 2 || int64(women+men) != data.Rows {
		t.Fatalf("%q, %v", truth, err)
	}
	path, rewrite := keeping(t, c, "publicly", "fugu_guest", "fugu_reader", "publicly_keeper")
	buildPublicly(t, path, rewrite, women, men)

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

// buildPublicly has the commands refuse public counts that cannot be counted, or are others than the table's, and then
// build a twin with those that are right.
func buildPublicly(t *testing.T, path string, rewrite func(string), women, men int) {
	t.Helper()
	rows := women + men
	dir := filepath.Dir(path)
	text := strings.Replace(fmt.Sprintf(twinPolicy, rows), "known_rows: 0", "smallest: 0.05", 1)
	write := func(statement, values string) {
		t.Helper()
		rewrite(text + fmt.Sprintf("public:\n  sexes: {statement: %q, values: {%s}}\n", statement, values))
	}
	says := func(code int, want string, args ...string) {
		t.Helper()
		expect(t, code, want, append(args, "-c", path)...)
	}
	const grouped = "SELECT sex, count(*) FROM adult GROUP BY sex"

	write("SELECT count(*) FROM adult WHERE sex = 'Female'", fmt.Sprintf("count(*): %d", women))
	says(1, "counts by columns of its own can be public", "check")
	says(1, "counts by columns of its own can be public", "twin", "preview")
	says(1, "counts by columns of its own can be public", "twin", "build")
	write(grouped, fmt.Sprintf("count(*) at sex=Female: %d, count(*) at sex=Male: %d", women+1, men-1))
	says(1, fmt.Sprintf("%d rows have sex=Female, and the policy says that everybody knows of %d", women, women+1),
		"twin", "build")
	write(grouped, fmt.Sprintf("count(*) at sex=Female: %d", rows))
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
}
