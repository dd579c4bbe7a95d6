// Command shape prints what the repository in the working directory looks like: how many lines there are and of what
// kind, the largest set of files that need each other, and the functions that are too long. See make shape.
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"fugu/internal/arch"
)

func main() {
	log.SetFlags(0)
	shape, err := arch.Measure(os.DirFS("."))
	if err != nil {
		log.Fatal(err)
	}
	knots, err := arch.Knots(".")
	if err != nil {
		log.Fatal(err)
	}

	// The sums come first, and then what could be better, by name.
	fmt.Printf("packages  %d\nproduct %v\ntests   %v\n", shape.Packages, shape.Product, shape.Tests)
	fmt.Printf("docs    %v\n\n", shape.Docs)
	fmt.Println("the largest set of files in a package of which each needs all the others:")
	for _, k := range knots {
		if len(k.Files) > 2 {
			fmt.Printf("  %-20s %3d  %s\n", k.Package, len(k.Files), strings.Join(k.Files, " "))
		}
	}
	fmt.Printf("\nlong functions of the product:\n  %s\n", strings.Join(shape.Product.Long, "\n  "))
	fmt.Printf("\nlong functions of tests:\n  %s\n", strings.Join(shape.Tests.Long, "\n  "))
	fmt.Printf("\nfunctions of the product without a paragraph and a comment:\n  %s\n",
		strings.Join(shape.Product.Dense.Both, "\n  "))
	fmt.Printf("\nfunctions of the product without one of the two:\n  %s\n",
		strings.Join(shape.Product.Dense.OneOfTwo, "\n  "))
}
