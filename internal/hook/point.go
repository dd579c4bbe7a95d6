//go:build !fuguhooks

package hook

import (
	"database/sql"
	"database/sql/driver"
	"time"
)

// Point names a place on the way of an answer, at which a test may kill or hold the process.
func Point(string) {}

// Now is the wall clock, which a test may set.
func Now() time.Time { return time.Now() }

// Open is sql.Open; a test has each statement and transaction pass points.
func Open(driver, dsn string) (*sql.DB, error) { return sql.Open(driver, dsn) }

// OpenDB is sql.OpenDB, as Open is sql.Open.
func OpenDB(c driver.Connector) *sql.DB { return sql.OpenDB(c) }
