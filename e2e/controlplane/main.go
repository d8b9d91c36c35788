// Command controlplane is a Kubernetes control plane in one binary. `controlplane COMPONENT
// [FLAGS]` runs exactly one component with its own flags, so that tests can stop, kill and restart
// each component.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

// components maps the first argument to a function that runs that component until it ends. The
// function sees os.Args as if the component's own binary had been called.
var components = map[string]func(){
	"etcd":                    runEtcd,
	"kube-apiserver":          runAPIServer,
	"kube-controller-manager": runControllerManager,
	"kube-scheduler":          runScheduler,
	"kwok":                    runKwok,
	"kubelet":                 runKubelet,
	"kube-proxy":              runKubeProxy,
}

func main() {
	if len(os.Args) < 2 || components[os.Args[1]] == nil {
		names := make([]string, 0, len(components))
		for name := range components {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "usage: %s COMPONENT [FLAGS]\ncomponents: %s\n", os.Args[0], strings.Join(names, ", "))
		os.Exit(2)
	}
	run := components[os.Args[1]]
	os.Args = os.Args[1:]
	run()
}
