// Package monitoring checks the dashboard and the alert rules against the metrics that Fugu shows.
package monitoring
