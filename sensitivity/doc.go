// Package sensitivity says how far the distribution of F can move between the two values of a secret pair: from f_θ
// (package model) and Ψ (the policy's spans of values) to the Shift that mechanisms are calibrated to.
//
// It knows neither data nor noise.
package sensitivity
