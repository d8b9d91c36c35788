// istio-recorder prints the answers of Istio's injector to random pods as JSON lines: first the
// configurations, then one case per line.
//
//	go run . [-count 1000] [-seed 1] [-setups DIR | -istiod] [-choose 0]
//
// DIR contains a folder with config, values and mesh for each configuration; setups.json beside DIR
// has the revisions and the use of native sidecars. The default is setups.go; -istiod takes the
// configurations of istiod_setups.go. -choose limits the
// number of printed cases: they differ, and come from the groups of all configurations.
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

// Case is a pod, and Istio's answer.
type Case struct {
	Setup string `json:"setup"`
	// Group is the function of Istio that the pod targets.
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
	count := flag.Int("count", 1000, "number of cases to generate")
	seed := flag.Int64("seed", 1, "seed of the random choices")
	folder := flag.String("setups", "", "folder of configurations to use instead of setups.go")
	istiod := flag.Bool("istiod", false, "use the configurations of istiod_setups.go")
	choose := flag.Int("choose", 0, "number of cases to print; 0 prints all")
	flag.Parse()
	options := log.DefaultOptions()
	options.SetDefaultOutputLevel(log.OverrideScopeName, log.NoneLevel)
	check(log.Configure(options))

	setups := ownSetups
	if *istiod {
		setups = istiodSetups
	}
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
		generator.place(&one, setup)
		setup.answer(&one)
		cases = append(cases, one)
		if one.Outcome == "patched" && generator.Intn(4) == 0 {
			again := generator.edited(one)
			generator.place(&again, setup)
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

// chosen selects cases in turns from all groups of all configurations. Cases with a new message or
// a new shape of pod come first.
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
			// The groups `validateAnnotations` and `MergeProxyConfig` have many values to check.
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

// shape returns a value without names and numbers. Pods of one shape have the same fields and
// numbers of elements.
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
