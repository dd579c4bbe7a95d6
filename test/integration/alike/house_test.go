package alike

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/explain"
	"fugu/policy"
	"fugu/privacy"
	"fugu/test/adult"
	"fugu/test/pgcluster"
	"fugu/test/serving"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// house is a Fugu that plans statements over one dataset, and serves nobody.
type house struct {
	engine *serving.Engine
	known  map[asked][]explain.Value
}

// asked is a statement and the ε that it is asked at.
type asked struct {
	sql     string
	epsilon privacy.Epsilon
}

// loaded are the databases that the shared cluster has.
var loaded = map[string]adult.Loaded{}

// open returns the house of a dataset: shop and clinic are those of the corpus, adult is the example.
func open(t *testing.T, dataset string) *house {
	t.Helper()
	c := pgcluster.Shared(t)
	database, file := "shop", "../corpus/testdata/"+dataset+".policy.yaml"
	if dataset == "adult" {
		database, file = "adult", "../../../examples/adult/adult.policy.yaml"
	}
	if _, ok := loaded[database]; !ok {
		var of adult.Loaded
		var err error
		if database == "adult" {
			of, err = adult.Load(t.Context(), c, database, adult.Options{})
		} else {
			err = loadShop(t, c)
		}
		if err != nil {
			t.Fatal(err)
		}
		loaded[database] = of
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// The corpus has next to no noise, as it is compared without any; these are the usual ε and δ.
	edited := strings.NewReplacer("epsilon: 10\n", "epsilon: 1\n", "delta: 0.000000001", "delta: 0.001",
		"rows: 35222", fmt.Sprintf("rows: %d", max(1, loaded[database].Rows))).Replace(string(text))
	path := filepath.Join(t.TempDir(), dataset+".policy.yaml")
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := serving.Open(t.Context(), serving.Options{Guest: c.DSN("fugu_guest", database),
		Reader: c.DSN("fugu_reader", database), Policies: policies, Ledger: filepath.Join(t.TempDir(), "fugu.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return &house{engine, map[asked][]explain.Value{}}
}

// loadShop creates the corpus' database. Its roles are the cluster's: the example's database may have made them.
func loadShop(t *testing.T, c *pgcluster.Cluster) error {
	text, err := os.ReadFile("../corpus/testdata/fixture.sql")
	if err != nil {
		return err
	}
	script := string(text)
	if _, ok := loaded["adult"]; ok {
		script = strings.NewReplacer("CREATE ROLE fugu_guest LOGIN;", "", "CREATE ROLE fugu_reader LOGIN;",
			"").Replace(script)
	}
	if err := c.CreateDatabase(t.Context(), "shop", ""); err != nil {
		return err
	}
	return c.Exec(t.Context(), "shop", script)
}
