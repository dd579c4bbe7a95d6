// Package newest lets psql of PostgreSQL 18, whose libpq is the first to speak protocol 3.2, work through the fugu
// program: in front of version 18, and of the older one that the system has. It needs that psql on PATH:
//
//	PATH=$(scripts/postgres18.sh):$PATH go test ./test/compat/newest
package newest
