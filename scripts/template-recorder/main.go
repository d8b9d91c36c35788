// Command template-recorder renders templates with Go's text/template and sprig, for comparison
// with src/template. It reads one JSON object per line from standard input, and writes one per line
// to standard output, in the same order.
//
// With -benchmark it measures one template instead (benchmark.go).
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"maps"
	"os"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
)

// request is a template to render.
type request struct {
	Template   string          `json:"template"`
	Data       json.RawMessage `json:"data"`
	Typed      bool            `json:"typed"`
	Functions  string          `json:"functions"`
	MissingKey string          `json:"missingKey"`
	Delimiters [2]string       `json:"delimiters"`
}

// result is either the output or the error.
type result struct {
	Out   *string `json:"out,omitempty"`
	Error string  `json:"error,omitempty"`
}

var tables = map[string]template.FuncMap{
	"builtin": {},
	"sprig":   sprig.TxtFuncMap(),
	"istio":   istioTable(),
}

func istioTable() template.FuncMap {
	table := maps.Clone(sprig.TxtFuncMap())
	maps.Copy(table, istioFunctions)
	return table
}

// A runaway template ends the process, because Go cannot stop it otherwise. The reader of the
// results starts another process for the rest.
const (
	longest = 5 * time.Second
	largest = 64 << 20

	timeout       = "timeout"
	timeoutStatus = 3
)

// limitedBuffer refuses more output than any template of the test should write.
type limitedBuffer struct {
	bytes.Buffer
}

func (b *limitedBuffer) Write(text []byte) (int, error) {
	if b.Len()+len(text) > largest {
		return 0, errors.New("too much output")
	}
	return b.Buffer.Write(text)
}

func main() {
	benchmark := flag.String("benchmark", "", "a JSON file with template and data to measure")
	flag.Parse()
	log.SetFlags(0)
	if *benchmark != "" {
		measure(*benchmark)
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	encoder := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var one request
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			log.Fatal(err)
		}
		outcome := renderWithin(one)
		if err := encoder.Encode(outcome); err != nil {
			log.Fatal(err)
		}
		if outcome.Error == timeout {
			os.Exit(timeoutStatus)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}

func renderWithin(one request) result {
	done := make(chan result, 1)
	go func() { done <- render(one) }()
	select {
	case outcome := <-done:
		return outcome
	case <-time.After(longest):
		return result{Error: timeout}
	}
}

func render(one request) (outcome result) {
	defer func() {
		if recover() != nil {
			outcome = result{Error: "panic"}
		}
	}()
	parsed, err := compile(one)
	if err != nil {
		return result{Error: err.Error()}
	}
	data, err := decode(one)
	if err != nil {
		return result{Error: err.Error()}
	}
	var text limitedBuffer
	if err := parsed.Execute(&text, data); err != nil {
		return result{Error: err.Error()}
	}
	out := text.String()
	return result{Out: &out}
}

func compile(one request) (*template.Template, error) {
	option := one.MissingKey
	if option == "" {
		option = "default"
	}
	functions := tables[one.Functions]
	return template.New("t").Delims(one.Delimiters[0], one.Delimiters[1]).Option("missingkey=" + option).Funcs(functions).Parse(one.Template)
}

func decode(one request) (any, error) {
	if one.Typed {
		garage := new(Garage)
		return garage, json.Unmarshal(one.Data, garage)
	}
	var data any
	err := json.Unmarshal(one.Data, &data)
	return data, err
}
