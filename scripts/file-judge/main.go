// file-judge reads files exactly as `kubectl apply -f` does until it knows the objects. It answers
// each line of standard input, which is a file as a JSON string, with a line of JSON.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// verdict is what kubectl reads in a file.
type verdict struct {
	// Error is why kubectl cannot read on.
	Error string `json:"error,omitempty"`
	// Refused has an error for each document and item that is not an object.
	Refused []string `json:"refused,omitempty"`
	// Objects are the objects, also those of lists.
	Objects []any `json:"objects"`
	// Numbers are the integers of the objects that a float64 may not hold, sorted, as texts.
	Numbers []string `json:"numbers,omitempty"`
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		var file string
		check(json.Unmarshal(line, &file))
		check(encoder.Encode(judge(file)))
		if in.Buffered() == 0 {
			check(out.Flush())
		}
	}
}

// judge is StreamVisitor.Visit of k8s.io/cli-runtime/pkg/resource, without a cluster.
func judge(file string) *verdict {
	result := &verdict{Objects: []any{}}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(file), 4096)
	for {
		ext := runtime.RawExtension{}
		if err := decoder.Decode(&ext); err != nil {
			if err != io.EOF {
				result.Error = err.Error()
			}
			slices.Sort(result.Numbers)
			return result
		}
		ext.Raw = bytes.TrimSpace(ext.Raw)
		if len(ext.Raw) == 0 || bytes.Equal(ext.Raw, []byte("null")) {
			continue
		}
		object, _, err := unstructured.UnstructuredJSONScheme.Decode(ext.Raw, nil, nil)
		if err != nil {
			result.Refused = append(result.Refused, err.Error())
			continue
		}
		result.add(object)
	}
}

// add is FlattenListVisitor.Visit: a list in a list refuses the whole list.
func (v *verdict) add(object runtime.Object) {
	var objects []runtime.Object
	for rest := []runtime.Object{object}; len(rest) > 0; rest = rest[1:] {
		if !meta.IsListType(rest[0]) {
			objects = append(objects, rest[0])
			continue
		}
		items, err := meta.ExtractList(rest[0])
		if err != nil {
			v.Refused = append(v.Refused, err.Error())
			return
		}
		rest = append(rest, items...)
	}
	for _, object := range objects {
		kind := object.GetObjectKind().GroupVersionKind()
		if kind.Kind == "" || kind.Version == "" {
			v.Refused = append(v.Refused, "an object has no kind or apiVersion")
			continue
		}
		content := object.(*unstructured.Unstructured).Object
		v.Objects = append(v.Objects, content)
		v.count(content)
	}
}

func (v *verdict) count(value any) {
	const exact = 1 << 53
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			v.count(member)
		}
	case []any:
		for _, item := range value {
			v.count(item)
		}
	case int64:
		if value > exact || value < -exact {
			v.Numbers = append(v.Numbers, strconv.FormatInt(value, 10))
		}
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
