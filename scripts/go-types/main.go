// go-types writes Go's types for TypeScript: the structs of a Kubernetes pod, and the messages of
// Istio's mesh configuration.
//
//	cd scripts/go-types && go run . ../../src/inject
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: go run . FOLDER (src/inject)"))
	}
	write(filepath.Join(os.Args[1], "kubernetes", "generated", "pod-types.ts"), podTypes())
	write(filepath.Join(os.Args[1], "mesh", "generated", "mesh-types.ts"), meshTypes())
}

func write(file string, text string) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		fail(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "go-types:", err)
	os.Exit(1)
}
