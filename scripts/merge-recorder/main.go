// merge-recorder writes the results of Kubernetes' Go code for generated inputs. The tests replay
// the results without Go.
//
//	cd scripts/merge-recorder && go run . ../../src/inject
package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: go run . FOLDER (src/inject)"))
	}
	folder := os.Args[1]
	write(filepath.Join(folder, "merge", "testdata", "strategic-merge.jsonl.gz"), recordMerges())
	write(filepath.Join(folder, "kubernetes", "testdata", "pods.jsonl.gz"), recordPods())
	write(filepath.Join(folder, "kubernetes", "testdata", "quantities.jsonl.gz"), recordQuantities())
	write(filepath.Join(folder, "yaml", "testdata", "documents.jsonl.gz"), recordDocuments())
}

// write stores one JSON value per line, compressed. The same rows always give the same bytes.
func write[Row any](file string, rows []Row) {
	check(os.MkdirAll(filepath.Dir(file), 0o755))
	out, err := os.Create(file)
	check(err)
	compressed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	check(err)
	encoder := json.NewEncoder(compressed)
	encoder.SetEscapeHTML(false)
	for _, row := range rows {
		check(encoder.Encode(row))
	}
	check(compressed.Close())
	check(out.Close())
	fmt.Printf("%s: %d rows\n", file, len(rows))
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "merge-recorder:", err)
	os.Exit(1)
}
