// Command go asks the questions of the README of the directory above through builders and ORMs of Go.
package main

import (
	"context"
	"database/sql"
	"fmt"
	sq "github.com/Masterminds/squirrel"
	"github.com/doug-martin/goqu/v9"
	_ "github.com/doug-martin/goqu/v9/dialect/postgres"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

type Product struct {
	ID       int
	Category string
	Active   bool
}
type Order struct {
	ID         int64
	Status     string
	Channel    string
	Country    string
	ProductID  *int
	Product    *Product
	CustomerID int
	IsPaid     bool
	Amount     float64
	Quantity   int
	Rating     *int
}

const dsn = "postgres://postgres@127.0.0.1:5599/shop"

type BP struct {
	bun.BaseModel `bun:"table:products,alias:product"`
	ID            int `bun:",pk"`
	Category      string
}
type BO struct {
	bun.BaseModel `bun:"table:orders,alias:order"`
	ID            int64 `bun:",pk"`
	Status        string
	Country       string
	ProductID     int
	Product       *BP `bun:"rel:belongs-to,join:product_id=id"`
}

func main() {
	askGorm()
	db, err := sql.Open("pgx", dsn)
	check(err)
	db.SetMaxOpenConns(1)
	askBun(bun.NewDB(db, pgdialect.New()))
	askGoqu(db)
	askSquirrel(db)
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
	}
}

func askGorm() {
	g, err := gorm.Open(postgres.Open(dsn), &gorm.Config{Logger: logger.Default.LogMode(logger.Silent)})
	if err != nil {
		panic(err)
	}
	label := func(s string) { g.Exec("SELECT '## " + s + "'") }
	var n int64
	type R struct {
		Country string
		N       int64
		Total   float64
	}
	var rs []R
	O := func() *gorm.DB { return g.Model(&Order{}) }
	label("gorm count")
	O().Where("channel = ?", "shop").Count(&n)
	label("gorm count struct")
	O().Where(&Order{Status: "new", IsPaid: true}).Not("country IN ?", []string{"JP", "BR"}).Count(&n)
	label("gorm group")
	O().Select("country, count(*) as n, sum(amount) as total").Group("country").Having("count(*) > ?",
		100).Order("total desc").Limit(3).Find(&rs)
	label("gorm distinct")
	O().Distinct("customer_id").Count(&n)
	label("gorm distinct country")
	O().Distinct("country").Count(&n)
	label("gorm group count")
	O().Group("status").Count(&n)
	label("gorm joins")
	O().Joins("Product").Where(`"Product"."category" = ?`, "Seat").Count(&n)
	label("gorm subquery")
	O().Select("country, avg(amount) as total").Group("country").Having("avg(amount) > (?)",
		O().Select("avg(amount) - 1000").Where("channel = ?", "web")).Find(&rs)
	label("gorm from")
	g.Table("(?) as t", O().Select("country, count(id) as n").Group("country")).Select("avg(n) as total").Find(&rs)
	label("gorm or")
	O().Where("quantity BETWEEN ? AND ?", 2, 5).Where(g.Where("rating IS NULL").Or("is_paid = ?", true)).Count(&n)
	label("gorm scan sum")
	var f float64
	O().Where("status <> ?", "returned").Select("COALESCE(SUM(amount),0)").Scan(&f)
}

func askBun(b *bun.DB) {
	ctx := context.Background()
	lb := func(s string) { b.Exec("SELECT '## " + s + "'") }
	lb("bun count")
	_, err := b.NewSelect().Model((*BO)(nil)).Where("status = ?", "open").Count(ctx)
	check(err)
	var m []map[string]interface{}
	lb("bun group")
	check(b.NewSelect().Model((*BO)(nil)).Column("country").ColumnExpr("count(*) AS n").ColumnExpr("avg(?) AS mean",
		bun.Ident("amount")).Where("is_paid").Group("country").Having("count(*) > ?",
		100).OrderExpr("mean DESC").Limit(3).Scan(ctx, &m))
	lb("bun relation")
	m = nil
	check(b.NewSelect().Model((*BO)(nil)).ColumnExpr("product.category, sum(\"order\".amount)").Join(
		"LEFT JOIN products AS product ON product.id = \"order\".product_id").GroupExpr("product.category").Scan(ctx,
		&m))
	lb("bun relation count")
	_, err = b.NewSelect().Model((*BO)(nil)).Relation("Product").Where("product.category = ?", "Seat").Count(ctx)
	check(err)
	lb("bun with")
	m = nil
	check(b.NewSelect().With("c", b.NewSelect().Model((*BO)(nil)).Column("country").ColumnExpr(
		"sum(amount) AS total").Group("country")).Table("c").ColumnExpr("max(total)").Scan(ctx, &m))
	lb("bun group count")
	_, err = b.NewSelect().Model((*BO)(nil)).Column("country").Group("country").Count(ctx)
	check(err)
}

// ask sends a statement that a builder has made, behind its label.
func ask(db *sql.DB, label, sql string, args []any, err error) {
	check(err)
	db.Exec("SELECT '## " + label + "'")
	r, err := db.Query(sql, args...)
	check(err)
	if r != nil {
		r.Close()
	}
}

func askGoqu(db *sql.DB) {
	d := goqu.Dialect("postgres")
	run := func(label string, s *goqu.SelectDataset) {
		sql, args, err := s.ToSQL()
		ask(db, label, sql, args, err)
	}
	run("goqu group", d.From("orders").Prepared(true).Select("country", goqu.COUNT("*").As("n"),
		goqu.SUM("amount").As("total")).Where(goqu.C("status").In("new", "open"),
		goqu.Ex{"is_paid": true}).GroupBy("country").Having(goqu.COUNT("*").Gt(100)).Order(
		goqu.I("total").Desc()).Limit(3))
	run("goqu join", d.From("orders").InnerJoin(goqu.T("products"),
		goqu.On(goqu.Ex{"orders.product_id": goqu.I("products.id")})).Select(goqu.I("products.category"),
		goqu.AVG(goqu.I("orders.amount"))).GroupBy(goqu.I("products.category")))
	run("goqu case", d.From("orders").Select(goqu.SUM(goqu.Case().When(goqu.C("status").Eq("shipped"),
		goqu.C("amount")).Else(0)).As("shipped"), goqu.COALESCE(goqu.SUM("discount"), 0)))
	run("goqu or", d.From("orders").Select(goqu.COUNT(goqu.Star())).Where(goqu.Or(goqu.C("rating").IsNull(),
		goqu.C("note").ILike("%call%")), goqu.C("quantity").Between(goqu.Range(2, 5))))
	run("goqu from", d.From(d.From("orders").Select("country", goqu.COUNT("*").As("n")).GroupBy("country").As(
		"t")).Select(goqu.AVG("n")))
}

func askSquirrel(db *sql.DB) {
	P := sq.StatementBuilder.PlaceholderFormat(sq.Dollar)
	run := func(label string, s sq.SelectBuilder) {
		sql, args, err := s.ToSql()
		ask(db, label, sql, args, err)
	}
	run("squirrel group", P.Select("country", "COUNT(*) AS n", "AVG(amount)").From("orders").Where(
		sq.Eq{"status": []string{"new", "open"}, "is_paid": true}).Where(sq.GtOrEq{"quantity": 2}).GroupBy(
		"country").Having("COUNT(*) > ?", 100).OrderBy("country").Limit(3).Offset(1))
	run("squirrel or", P.Select("COUNT(*)").From("orders o").LeftJoin("products p ON p.id = o.product_id").Where(
		sq.Or{sq.Eq{"o.rating": nil}, sq.And{sq.Eq{"p.category": "Seat"}, sq.NotEq{"o.status": "returned"}}}))
	run("squirrel from", P.Select("AVG(n)").FromSelect(sq.Select("country", "COUNT(*) AS n").From("orders").GroupBy(
		"country"), "t"))
}
