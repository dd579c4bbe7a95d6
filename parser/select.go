package parser

import "strings"

// SelectSQL writes a SELECT of these columns; where and group may be empty.
func SelectSQL(columns []string, from, where string, group []string) string {
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM " + from
	if where != "" {
		sql += " WHERE " + where
	}
	if len(group) > 0 {
		sql += " GROUP BY " + strings.Join(group, ", ")
	}
	return sql
}
