// Package market tries examples/marketplace as its DBA and its analyst would: with the commands of its README, and
// with the thirty statements of analyst.sql.
package market
