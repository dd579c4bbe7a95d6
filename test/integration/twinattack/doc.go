// Package twinattack attacks twins as an analyst would, and shows that what is told of a table is what the theorem
// counts: the noisy counts Ñ, and the rows that were taken.
//
// Two worlds are coupled. Their tables share the rows that are taken and nothing else: another number of rows has the
// secret, all other rows are others, with other values, lengths and linked rows. The build's random bytes are chosen
// so that Ñ is the same in both. Given Ñ the rows taken have the same law under both values of a pair, so that an
// analyst who cannot tell coupled worlds apart learns nothing beyond (Ñ, rows taken). Every byte that clients receive
// has to be the same: thousands of statements, and everything in the catalog. The worlds are clusters of their own,
// so that even oids and transaction numbers can be compared.
//
// What Ñ and the rows taken tell is measured: classifiers guess the secret of tables whose twins are really built,
// and are right no more often than e^ε/(1+e^ε) allows.
//
// The tests need the build tag fuguhooks, with which faults can be planted that each of them finds.
package twinattack
