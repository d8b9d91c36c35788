// Command agent is the only program in the pods of a real node: the app, a sidecar, and pause.
// Without flags, it prints its name and waits for SIGTERM. Each event is one line of its output,
// `NAME EVENT`, which it also sends to the scenario's recorder.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// prober is an entry of ISTIO_KUBE_APP_PROBERS: a probe of the app that the sidecar answers.
type prober struct {
	HTTPGet *struct {
		Path string
		Port int
	}
}

var (
	name     = flag.String("name", "agent", "the name in events")
	recorder = flag.String("recorder", "", "the URL to which events are posted")
	port     = flag.Int("port", 0, "serve HTTP on this port")
	status   = flag.Int("status", http.StatusOK, "the status of each HTTP response except that of /drain")
	get      = flag.String("get", "", "fetch this URL until it answers with 200")
	memory   = flag.Int("memory", 0, "use this many MiB of memory")
	ends     = flag.Int("exit", -1, "exit with this code instead of waiting for SIGTERM")
	// Go does not repeat a POST on a kept connection that the recorder closes at this moment.
	client = http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	used   []byte
)

func main() {
	flag.Parse()
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	if *port != 0 {
		http.HandleFunc("/", answer)
		go func() { panic(http.ListenAndServe(fmt.Sprintf(":%d", *port), nil)) }()
	}
	record("started")
	for used = make([]byte, *memory<<20); len(used) > 0; used = used[:0] {
		for at := 0; at < len(used); at += 4096 {
			used[at] = 1
		}
	}
	if *get != "" {
		fetch()
	}
	if *ends >= 0 {
		record("ends")
		os.Exit(*ends)
	}
	<-end
	record("stopped")
}

func record(event string) {
	fmt.Println(*name, event)
	if *recorder == "" {
		return
	}
	for try := 1; try <= 3; try++ {
		response, err := client.Post(*recorder, "text/plain", strings.NewReader(*name+" "+event))
		if err == nil {
			response.Body.Close()
			return
		}
		fmt.Println("cannot reach the recorder:", err)
	}
}

func fetch() {
	for ; ; time.Sleep(100 * time.Millisecond) {
		response, err := client.Get(*get)
		if err != nil {
			fmt.Println(err)
			continue
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			record("got " + string(body))
			return
		}
	}
}

func answer(writer http.ResponseWriter, request *http.Request) {
	var probers map[string]prober
	_ = json.Unmarshal([]byte(os.Getenv("ISTIO_KUBE_APP_PROBERS")), &probers)
	if original := probers[request.URL.Path].HTTPGet; original != nil {
		response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", original.Port, original.Path))
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadGateway)
			return
		}
		response.Body.Close()
		writer.WriteHeader(response.StatusCode)
		return
	}
	if request.URL.Path == "/drain" {
		record("drains")
		return
	}
	writer.WriteHeader(*status)
	fmt.Fprint(writer, *name)
}
