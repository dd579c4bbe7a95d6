//go:build race

package patient

// race says whether the race detector is in this build.
const race = true
