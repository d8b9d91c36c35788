package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"slices"
	"time"
)

// measure executes a template for about three seconds, and prints a JSON line: microseconds (the
// median of batches) and allocated bytes per execution, and the time to parse.
func measure(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var one request
	if err := json.Unmarshal(text, &one); err != nil {
		log.Fatal(err)
	}
	started := time.Now()
	parsed, err := compile(one)
	if err != nil {
		log.Fatal(err)
	}
	parse := time.Since(started)
	data, err := decode(one)
	if err != nil {
		log.Fatal(err)
	}
	const batch = 50
	run := func(atLeast time.Duration) (perExecution []float64) {
		for end := time.Now().Add(atLeast); time.Now().Before(end); {
			started := time.Now()
			for range batch {
				if err := parsed.Execute(io.Discard, data); err != nil {
					log.Fatal(err)
				}
			}
			perExecution = append(perExecution, float64(time.Since(started).Nanoseconds())/1000/batch)
		}
		slices.Sort(perExecution)
		return perExecution
	}
	run(time.Second)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	times := run(3 * time.Second)
	runtime.ReadMemStats(&after)
	count := uint64(len(times) * batch)
	fmt.Printf("{\"microseconds\":%.1f,\"bytes\":%d,\"parseMicroseconds\":%d,\"executions\":%d}\n",
		times[len(times)/2], (after.TotalAlloc-before.TotalAlloc)/count, parse.Microseconds(), count)
}
