// Package fitted keeps on disk what `fugu fit` has prepared: what the references of one policy answered to the
// statements that models are made of. Whoever has an Artifact computes the same models as from the references, without
// a scan.
//
// An artifact is lines of JSON: a header, which says for what policy and which references it holds; one line for each
// part; and a seal. Each line carries a hash over itself and all lines before it, so that a line which was changed,
// left out or moved is noticed, and an artifact which never got its seal is the beginning of one that can be continued.
//
// The hashes find accidents and forgotten files. They keep nobody out who may write the file: it deserves the same
// protection as the policy, on whose word a model rests anyway.
package fitted
