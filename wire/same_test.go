package wire

import (
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

const protected = "SELECT x FROM noisy ORDER BY x /*p*/"

// With these scripts a client cannot tell the proxy from PostgreSQL, with and without protected statements.
var sameScripts = map[string]script{
	"simple":                         {q("SELECT 1"), "Z"},
	"simple error":                   {q("SELECT 1/0"), "Z"},
	"simple position":                {q("SELECT nothing"), "Z"},
	"empty query":                    {q(""), "Z", q(";"), "Z"},
	"several statements":             {q("SELECT 1; SELECT 2; SELECT 3"), "Z"},
	"implicit transaction":           {q("CREATE TEMP TABLE a(); SELECT 1/0"), "Z", q("SELECT count(*) FROM pg_class WHERE relname = 'a'"), "Z"},
	"transaction":                    {q("BEGIN"), "Z", q("SELECT 1/0"), "Z", q("SELECT 1"), "Z", q("ROLLBACK"), "Z"},
	"two queries in one write":       {q("SELECT 1"), q("SELECT 2"), "ZZ"},
	"notice":                         {q("DROP TABLE IF EXISTS none"), "Z"},
	"parameter status":               {q("SET application_name = 'x'"), "Z"},
	"notification":                   {q("LISTEN l"), "Z", q("NOTIFY l"), "Z"},
	"extended":                       {parse("", "SELECT $1::int + 1"), describeS(""), bind("", "", "4"), describeP(""), exec(""), sync_, "Z"},
	"flush between":                  {parse("", "SELECT 1"), flush, "1", bind("", ""), flush, "2", exec(""), flush, "C", sync_, "Z"},
	"empty statement":                {parse("", ""), bind("", ""), describeP(""), exec(""), sync_, "Z"},
	"row limits":                     {parse("", "SELECT generate_series(1,5)"), bind("", ""), execN("", 2), execN("", 2), execN("", 2), sync_, "Z"},
	"skip until sync":                {parse("", "SELECT 1/0"), bind("", ""), exec(""), parse("", "SELECT 2"), bind("", ""), exec(""), sync_, parse("", "SELECT 3"), bind("", ""), exec(""), sync_, "ZZ"},
	"skip ignores a query":           {parse("", "nonsense"), flush, "E", q("SELECT 1"), sync_, "Z"},
	"skip ignores, in one write":     {parse("", "nonsense"), q("SELECT 1"), sync_, "Z"},
	"pipeline is one transaction":    {q("TRUNCATE kept"), "Z", parse("", "INSERT INTO kept VALUES (1)"), bind("", ""), exec(""), parse("", "SELECT 1/0"), bind("", ""), exec(""), sync_, "Z", q("SELECT count(*) FROM kept"), "Z"},
	"error on sync":                  {parse("", "INSERT INTO deferred VALUES (1),(1)"), bind("", ""), exec(""), sync_, "Z"},
	"named statements":               {parse("s", "SELECT $1::text"), sync_, "Z", bind("", "s", "a"), exec(""), bind("", "s", "b"), exec(""), sync_, "Z", parse("s", "SELECT 1"), sync_, "Z", closeS("s"), bind("", "s", "a"), sync_, "Z"},
	"named portals":                  {q("BEGIN"), "Z", parse("", "SELECT generate_series(1,4)"), bind("p", ""), execN("p", 1), sync_, "Z", q("SELECT 1"), "Z", execN("p", 2), closeP("p"), exec("p"), sync_, "Z", q("ROLLBACK"), "Z"},
	"describe nothing":               {describeS("none"), sync_, "Z", describeP("none"), sync_, "Z"},
	"several statements in parse":    {parse("", "SELECT 1; SELECT 2"), sync_, "Z"},
	"copy out":                       {q("COPY (SELECT generate_series(1,3)) TO STDOUT"), "Z"},
	"copy out, extended":             {parse("", "COPY (SELECT generate_series(1,3)) TO STDOUT"), bind("", ""), describeP(""), exec(""), sync_, "Z"},
	"copy in":                        {q("CREATE TEMP TABLE c (x int)"), "Z", q("COPY c FROM STDIN"), "G", data("1\n2\n"), data("3\n"), copyDone, "Z", q("SELECT sum(x) FROM c"), "Z"},
	"copy in fails":                  {q("CREATE TEMP TABLE c (x int)"), "Z", q("COPY c FROM STDIN"), "G", data("1\n2\n"), copyFail, "Z"},
	"copy in of bad data":            {q("CREATE TEMP TABLE c (x int)"), "Z", q("COPY c FROM STDIN"), "G", data("1\nx\n"), data("3\n"), copyDone, "Z"},
	"copy in among statements":       {q("CREATE TEMP TABLE c (x int); COPY c FROM STDIN; SELECT sum(x) FROM c"), "G", data("1\n2\n"), copyDone, "Z"},
	"copy in, extended":              {q("CREATE TEMP TABLE c (x int)"), "Z", parse("", "COPY c FROM STDIN"), bind("", ""), exec(""), flush, "G", data("1\n2\n"), copyDone, sync_, "Z", q("SELECT sum(x) FROM c"), "Z"},
	"copy in, sync sent early":       {q("CREATE TEMP TABLE c (x int)"), "Z", parse("", "COPY c FROM STDIN"), bind("", ""), exec(""), sync_, "G", data("1\n2\n"), copyDone, sync_, "Z", q("SELECT sum(x) FROM c"), "Z"},
	"copy in, all in one write":      {q("CREATE TEMP TABLE c (x int)"), "Z", parse("", "COPY c FROM STDIN"), bind("", ""), exec(""), sync_, data("1\n2\n"), copyDone, sync_, "Z", q("SELECT sum(x) FROM c"), "Z"},
	"copy in, sync while copying":    {q("CREATE TEMP TABLE c (x int)"), "Z", parse("", "COPY c FROM STDIN"), bind("", ""), exec(""), flush, "G", data("1\n"), sync_, flush, data("2\n"), copyDone, sync_, "Z"},
	"copy in fails, extended":        {q("CREATE TEMP TABLE c (x int)"), "Z", parse("", "COPY c FROM STDIN"), bind("", ""), exec(""), sync_, "G", data("1\n"), copyFail, sync_, "Z"},
	"copy in of bad data, extended":  {q("CREATE TEMP TABLE c (x int)"), "Z", parse("", "COPY c FROM STDIN"), bind("", ""), exec(""), sync_, "G", data("x\n"), "E", data("3\n"), copyDone, sync_, "Z"},
	"copy in that never starts":      {parse("", "COPY seen FROM STDIN"), bind("", ""), exec(""), sync_, "EZ", data("3\n"), copyDone, sync_, "Z"},
	"copy done out of place":         {copyDone, data("x"), q("SELECT 1"), "Z"},
	"message of copy in, then error": {q("SELECT 1"), copyFail, q("SELECT 2"), "ZZ"},

	"protected":                          {q(protected), "Z"},
	"protected, extended":                {parse("", protected), describeS(""), bind("", ""), describeP(""), exec(""), sync_, "Z"},
	"protected, flush between":           {parse("s", protected), flush, "1", describeS("s"), flush, "T", bind("", "s"), flush, "2", exec(""), flush, "C", sync_, "Z"},
	"protected with parameters":          {parse("s", "SELECT x+$1::int8 y FROM noisy WHERE x < $2::int8 ORDER BY 1 /*p*/", 20, 20), describeS("s"), bind("", "s", "10", "3"), describeP(""), exec(""), bind("", "s", "20", "9"), exec(""), sync_, "Z"},
	"protected in binary":                {parse("", "SELECT x+$1::int8 y FROM noisy ORDER BY 1 /*p*/"), &pgproto3.Bind{ParameterFormatCodes: []int16{1}, Parameters: [][]byte{{0, 0, 0, 0, 0, 0, 0, 7}}, ResultFormatCodes: []int16{1}}, describeP(""), exec(""), sync_, "Z"},
	"protected, formats one by one":      {parse("", "SELECT x+$1::int8+$2::int8 y FROM noisy ORDER BY 1 /*p*/"), &pgproto3.Bind{ParameterFormatCodes: []int16{1, 0}, Parameters: [][]byte{{0, 0, 0, 0, 0, 0, 0, 7}, []byte("4")}}, exec(""), sync_, "Z"},
	"protected with null":                {parse("", "SELECT x, $1::text FROM noisy ORDER BY x /*p*/"), &pgproto3.Bind{Parameters: [][]byte{nil}}, exec(""), sync_, "Z"},
	"protected, row limits":              {parse("", protected), bind("", ""), execN("", 1), execN("", 1), execN("", 5), sync_, "Z"},
	"protected cursor":                   {q("BEGIN"), "Z", parse("s", protected), bind("p", "s"), execN("p", 1), sync_, "Z", q("SELECT 1"), "Z", execN("p", 1), sync_, "Z", q("COMMIT"), "Z", exec("p"), sync_, "Z"},
	"protected among statements":         {q("SELECT 1; " + protected + "; SELECT 2"), "Z"},
	"protected twice":                    {q(protected + ";" + protected), "Z"},
	"protected and notices":              {q("DROP TABLE IF EXISTS none; " + protected), "Z"},
	"protected before an error":          {q(protected + "; SELECT 1/0"), "Z"},
	"protected after an error":           {q("SELECT 1/0; " + protected), "Z"},
	"protected rolls back":               {q("TRUNCATE kept"), "Z", q("INSERT INTO kept VALUES (1); " + protected + "; SELECT 1/0"), "Z", q("SELECT count(*) FROM kept"), "Z"},
	"protected in a transaction":         {q("BEGIN"), "Z", q(protected), "Z", q("SELECT 1/0"), "Z", q(protected), "Z", q("ROLLBACK"), "Z", q(protected), "Z"},
	"protected begins and commits":       {q("BEGIN; " + protected), "Z", q("SELECT 1/0"), "Z", q("ROLLBACK; " + protected), "Z"},
	"protected in a failed transaction":  {parse("s", protected), sync_, "Z", q("BEGIN; SELECT 1/0"), "Z", bind("", "s"), exec(""), sync_, "Z", q("ROLLBACK"), "Z", bind("", "s"), exec(""), sync_, "Z"},
	"protected after rollback, in line":  {parse("s", protected), parse("r", "ROLLBACK"), sync_, "Z", q("BEGIN; SELECT 1/0"), "Z", bind("", "r"), exec(""), bind("", "s"), exec(""), sync_, "Z"},
	"protected, wrong number":            {parse("s", "SELECT $1::int FROM noisy /*p*/"), sync_, "Z", bind("", "s"), sync_, "Z", bind("", "s", "1", "2"), sync_, "Z"},
	"protected, wrong formats":           {parse("s", "SELECT $1::int FROM noisy /*p*/"), sync_, "Z", &pgproto3.Bind{PreparedStatement: "s", ParameterFormatCodes: []int16{0, 0}, Parameters: [][]byte{[]byte("1")}}, sync_, "Z"},
	"protected, bad value":               {parse("s", "SELECT $1::int FROM noisy /*p*/"), bind("", "s", "x"), exec(""), sync_, "Z"},
	"protected, skipped":                 {parse("s", protected), sync_, "Z", parse("", "nonsense"), bind("", "s"), exec(""), sync_, "Z", parse("", "nonsense"), flush, "E", bind("", "s"), exec(""), q(protected), sync_, "Z"},
	"protected query skipped in line":    {parse("", "nonsense"), q(protected), sync_, "Z"},
	"protected name taken":               {parse("s", protected), sync_, "Z", parse("s", "SELECT 1"), sync_, "Z", bind("", "s"), exec(""), sync_, "Z"},
	"protected name freed":               {parse("s", protected), closeS("s"), parse("s", "SELECT 'ordinary'"), bind("", "s"), exec(""), sync_, "Z"},
	"protected name freed by SQL":        {parse("s", protected), sync_, "Z", parse("", "DEALLOCATE ALL"), bind("", ""), exec(""), parse("s", "SELECT 'ordinary'"), bind("", "s"), exec(""), sync_, "Z"},
	"protected name closed":              {parse("s", protected), closeS("s"), sync_, "Z", bind("", "s"), sync_, "Z"},
	"unnamed: protected then ordinary":   {parse("", protected), sync_, "Z", parse("", "SELECT 'ordinary'"), bind("", ""), exec(""), sync_, "Z"},
	"unnamed: ordinary then protected":   {parse("", "SELECT 'ordinary'"), bind("", ""), exec(""), parse("", protected), bind("", ""), exec(""), sync_, "Z"},
	"unnamed gone after a query":         {parse("", protected), sync_, "Z", q("SELECT 1"), "Z", bind("", ""), sync_, "Z"},
	"unnamed gone after a protected one": {parse("", "SELECT 'ordinary'"), sync_, "Z", q(protected), "Z", bind("", ""), sync_, "Z", describeS(""), sync_, "Z"},
	"unnamed gone after a failed one":    {parse("", "SELECT 'ordinary'"), sync_, "Z", q(protected + "; SELECT 1/0"), "Z", bind("", ""), sync_, "Z", describeS(""), sync_, "Z"},
	"unnamed gone after a failed parse":  {parse("", protected), sync_, "Z", parse("", "nonsense"), sync_, "Z", bind("", ""), sync_, "Z"},
	"unnamed stays when skipped":         {parse("", protected), sync_, "Z", parse("x", "nonsense"), flush, "E", parse("", "SELECT 'ordinary'"), q("SELECT 1"), sync_, "Z", bind("", ""), exec(""), sync_, "Z"},
	"unnamed portal gone after a query":  {q("BEGIN"), "Z", q(protected), "Z", exec(""), sync_, "Z", q("ROLLBACK"), "Z"},
	"protected pipeline":                 {parse("", protected), bind("", ""), exec(""), parse("", "SELECT 1"), bind("", ""), exec(""), parse("", protected), bind("", ""), exec(""), sync_, parse("", protected), bind("", ""), exec(""), sync_, "ZZ"},
	"protected fails in the middle":      {parse("", protected), bind("", ""), exec(""), parse("", "SELECT 1/0"), bind("", ""), exec(""), parse("", protected), bind("", ""), exec(""), sync_, parse("", protected), bind("", ""), exec(""), sync_, "ZZ"},
	"protected query in a pipeline":      {parse("s", "INSERT INTO kept VALUES (1)"), bind("", "s"), exec(""), q(protected), "Z"},
	"protected after copy in":            {q("CREATE TEMP TABLE c (x int)"), "Z", parse("", "COPY c FROM STDIN"), bind("", ""), exec(""), data("1\n"), copyDone, parse("", protected), bind("", ""), exec(""), sync_, "Z"},
	"several protected in parse":         {parse("", protected+";"+protected), sync_, "Z"},
	"protected copy out":                 {q("COPY (SELECT 5) TO STDOUT; " + protected), "Z"},
}

func TestSameAsPostgreSQL(t *testing.T) {
	p := serve(t, nil)
	for name, s := range sameScripts {
		t.Run(name, func(t *testing.T) { same(t, p, s) })
	}
}
