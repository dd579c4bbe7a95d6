// Package apart tries examples/adult-apart as its DBA and its analysts would: two servers, and the commands of its
// README.
package apart
