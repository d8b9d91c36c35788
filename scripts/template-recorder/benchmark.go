package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"time"
)

// measure executes one template again and again for about three seconds and prints a JSON line: microseconds and allocated bytes per
// execution, and the time to parse.
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
	run := func(atLeast time.Duration) (count int, taken time.Duration) {
		for started := time.Now(); taken < atLeast; taken = time.Since(started) {
			for range 20 {
				if err := parsed.Execute(io.Discard, data); err != nil {
					log.Fatal(err)
				}
			}
			count += 20
		}
		return count, taken
	}
	run(time.Second)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	count, taken := run(3 * time.Second)
	runtime.ReadMemStats(&after)
	fmt.Printf("{\"microseconds\":%.1f,\"bytes\":%d,\"parseMicroseconds\":%d,\"executions\":%d}\n",
		float64(taken.Microseconds())/float64(count), (after.TotalAlloc-before.TotalAlloc)/uint64(count), parse.Microseconds(), count)
}
