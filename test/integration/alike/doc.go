// Package alike compares the noise of statements that ask for the same thing in other words.
package alike
