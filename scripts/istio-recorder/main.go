// istio-recorder prints what Istio's own injector answers to random pods: JSON lines, the configurations first, then a case a line.
//
//	go run . [-count 1000] [-seed 1] [-setups DIR] [-choose 0]
//
// DIR has a folder with config, values and mesh for each configuration; beside it setups.json names revisions and native sidecars. Without
// -setups the configurations of setups.go are used. With -choose only as many cases are printed, chosen so that every group of every
// configuration has its share and no two are alike.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"strings"

	"istio.io/istio/pkg/log"
)

type object = map[string]any

// Case is one pod and Istio's answer to it.
type Case struct {
	Setup string `json:"setup"`
	// Group is Istio's function that the pod is meant for.
	Group     string `json:"group"`
	Path      string `json:"path"`
	Namespace string `json:"namespace"`
	Pod       object `json:"pod"`
	// Outcome is patched, skipped, denied or panic.
	Outcome string `json:"outcome"`
	Result  object `json:"result,omitempty"`
	Message string `json:"message,omitempty"`
}

func main() {
	count := flag.Int("count", 1000, "cases that are generated")
	seed := flag.Int64("seed", 1, "of the random choices")
	folder := flag.String("setups", "", "configurations to use instead of the own ones")
	choose := flag.Int("choose", 0, "cases that are printed; 0 is all")
	flag.Parse()
	options := log.DefaultOptions()
	options.SetDefaultOutputLevel(log.OverrideScopeName, log.NoneLevel)
	check(log.Configure(options))

	setups := ownSetups
	if *folder != "" {
		setups = readSetups(*folder)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for index := range setups {
		setups[index].load()
		check(encoder.Encode(object{"setup": setups[index]}))
	}
	generator := &generator{Rand: rand.New(rand.NewSource(*seed))}
	cases := make([]Case, 0, *count)
	for len(cases) < *count {
		setup := &setups[generator.Intn(len(setups))]
		one := generator.newCase(len(cases), setup.Name)
		setup.answer(&one)
		cases = append(cases, one)
		if one.Outcome == "patched" && generator.Intn(4) == 0 {
			again := generator.edited(one)
			setup.answer(&again)
			cases = append(cases, again)
		}
	}
	if *choose > 0 {
		cases = chosen(cases, *choose)
	}
	for _, one := range cases {
		check(encoder.Encode(one))
	}
}

// chosen takes cases in turns from every group of every configuration, those with a message or a pod like none before first.
func chosen(cases []Case, most int) []Case {
	queues := map[string][]Case{}
	var order []string
	for _, one := range cases {
		if one.Outcome == "panic" {
			continue
		}
		key := one.Group + " " + one.Setup
		if queues[key] == nil {
			order = append(order, key)
		}
		queues[key] = append(queues[key], one)
	}
	var result []Case
	seen := map[string]bool{}
	for progress := true; progress && len(result) < most; {
		progress = false
		for _, key := range order {
			// These have many values to check.
			taken, share := 0, 1
			if group, _, _ := strings.Cut(key, " "); group == "validateAnnotations" || group == "MergeProxyConfig" {
				share = 4
			}
			for taken < share && len(queues[key]) > 0 && len(result) < most {
				one := queues[key][0]
				queues[key] = queues[key][1:]
				progress = true
				alike := one.Group + one.Outcome + one.Message + fmt.Sprint(shape(one.Result))
				if one.Outcome != "denied" {
					alike += one.Setup
				}
				if seen[alike] {
					continue
				}
				seen[alike] = true
				result = append(result, one)
				taken++
			}
		}
	}
	return result
}

// shape is a value without its names and numbers: pods of one shape have the same fields and as many elements.
func shape(value any) any {
	switch value := value.(type) {
	case object:
		fields := object{}
		for name, member := range value {
			fields[name] = shape(member)
		}
		return fields
	case []any:
		elements := make([]any, len(value))
		for index, element := range value {
			elements[index] = shape(element)
		}
		return elements
	}
	return nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "istio-recorder:", err)
		os.Exit(1)
	}
}
