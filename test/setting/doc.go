// Package setting is the setting of the experiments of Chen & Ohrimenko, "Protecting Global Properties of Datasets with
// Distribution Privacy Mechanisms", section 5.1: five statistics of 100 records of the Adult census, their distribution
// for each share of records in a predicate, and the mechanisms as published (package mechanism/published) on one pair
// of shares, to be drawn from with a seed.
package setting
