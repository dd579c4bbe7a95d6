// Command paper repeats the experiments of Chen & Ohrimenko, "Protecting Global Properties of Datasets with
// Distribution Privacy Mechanisms", beside the paper's numbers, with Fugu's own mechanisms added: errors (Table 2,
// Figures 2 and 3), the property inference attack (Table 3, Figure 4), what normal laws miss (Figure 5), the δ that
// each mechanism really has, the same through the proxy, and a dashboard of statements under the example's policy; the
// twin beside all of them; columns released row by row; what is public, and estimates, after Seeman, Reimherr &
// Slavkovic. It asserts nothing but that proxy and process agree.
//
// It is no part of the product: it uses the test suite's clusters, data and mechanisms.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5"

	"fugu/test/adult"
	"fugu/test/pgcluster"
)

func main() {
	out := flag.String("out", "build/paper", "the `directory` for plots and CSV")
	data := flag.String("data", adult.CensusFile(), "a CSV `file` with the columns of the Adult census file; without "+
		"it, generated data")
	repetitions := flag.Int("repetitions", 50, "`repetitions` of the attack")
	dashboard := flag.Bool("dashboard", false, "the dashboards of statements alone")
	rowByRow := flag.Bool("channels", false, "columns that are released row by row alone")
	twin := flag.Bool("twins", false, "what twins tell alone")
	public := flag.Bool("partial", false, "partially private data alone: what is public, and estimates")
	shapes := flag.Bool("shapes", false, "what the normal law misses alone, and mechanisms that count on it")
	misled := flag.Bool("estimation", false, "what the reference may be off by alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	alone := map[string]bool{"dashboard": *dashboard, "channels": *rowByRow, "twins": *twin, "partial": *public,
		"estimation": *misled, "shapes": *shapes}
	if err := paper(ctx, *out, *data, *repetitions, alone); err != nil {
		fmt.Fprintln(os.Stderr, "paper:", err)
		os.Exit(1)
	}
}

func paper(ctx context.Context, out, file string, repetitions int, alone map[string]bool) (err error) {
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if _, err := adult.Load(ctx, cluster, "adult", adult.Options{CSV: file}); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, cluster.DSN("postgres", "adult"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))

	switch {
	case alone["channels"]:
		return errors.Join(byHand(), channels(ctx, conn))
	case alone["twins"]:
		return twins(ctx, cluster, conn)
	case alone["dashboard"]:
		return dashboards(ctx, cluster, conn)
	case alone["partial"]:
		return partial(ctx, cluster, conn)
	case alone["estimation"]:
		return estimation(ctx, cluster, conn)
	}

	data, err := readCensus(ctx, conn)
	if err != nil {
		return err
	}
	if alone["shapes"] {
		return errors.Join(printFigure5(data), printTable2(divide(data.testing, secrets[0]),
			divide(data.modelling, secrets[0])))
	}
	from := "the Adult census"
	if file == "" {
		from = "generated data; the paper's numbers are of the Adult census"
	}
	fmt.Printf("Data: %s; %d auxiliary, %d testing and %d modelling records\n", from, len(data.auxiliary),
		len(data.testing), len(data.modelling))
	if err := tables(data, repetitions); err != nil {
		return err
	}
	if err := besideFugu(ctx, cluster, conn); err != nil {
		return err
	}
	return errors.Join(figures(data, out, repetitions), leakage(data, out))
}

// tables prints what the paper has of its mechanisms, without a proxy.
func tables(data census, repetitions int) error {
	if err := printTable2(divide(data.testing, secrets[0]), divide(data.modelling, secrets[0])); err != nil {
		return err
	}
	if err := printParts(divide(data.testing, secrets[0])); err != nil {
		return err
	}
	if err := printTable3(data, repetitions); err != nil {
		return err
	}
	return printFigure5(data)
}

// besideFugu prints what Fugu answers where the paper has a mechanism alone.
func besideFugu(ctx context.Context, cluster *pgcluster.Cluster, conn *pgx.Conn) error {
	if err := throughProxy(ctx, cluster, conn, 1000); err != nil {
		return err
	}
	if err := dashboards(ctx, cluster, conn); err != nil {
		return err
	}
	if err := twins(ctx, cluster, conn); err != nil {
		return err
	}
	if err := errors.Join(byHand(), channels(ctx, conn)); err != nil {
		return err
	}
	return errors.Join(partial(ctx, cluster, conn), estimation(ctx, cluster, conn))
}
