package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

const wantedMerges = 6000

// mergeRow is a patch, and its result, error or panic in Kubernetes' code.
type mergeRow struct {
	Original json.RawMessage `json:"o"`
	Patch    json.RawMessage `json:"p"`
	Result   json.RawMessage `json:"r,omitempty"`
	Error    string          `json:"e,omitempty"`
}

func recordMerges() []mergeRow {
	random := rand.New(rand.NewPCG(2026, 9))
	originals := generator{Rand: random, nulls: 1}
	wild := generator{Rand: random, nulls: 1, mistypes: 1}
	rows := []mergeRow{}
	for _, pair := range edgeCases {
		rows = append(rows, merge(json.RawMessage(pair[0]), json.RawMessage(pair[1])))
	}
	undecided := 0
	for len(rows) < wantedMerges {
		original := &originals
		if random.IntN(10) == 0 {
			original = &wild
		}
		patcher := patchGenerator{generator{Rand: random, nulls: 3, mistypes: random.IntN(2)}}
		from := original.pod()
		patch := patcher.patch(from)
		row, decided := mergeRepeatedly(text(from), text(patch))
		if !decided {
			undecided++
			continue
		}
		rows = append(rows, row)
	}
	fmt.Printf("strategic merge: %d pairs left out: their result depends on Go's random map order or on the capacity of its slices\n", undecided)
	return rows
}

// mergeRepeatedly checks that the result does not depend on the order of maps or the capacity of
// slices.
func mergeRepeatedly(original, patch json.RawMessage) (mergeRow, bool) {
	first := merge(original, patch)
	for range 250 {
		if !reflect.DeepEqual(first, merge(original, patch)) {
			return mergeRow{}, false
		}
	}
	return first, reflect.DeepEqual(first, mergeClipped(original, patch))
}

func merge(original, patch json.RawMessage) (row mergeRow) {
	row = mergeRow{Original: original, Patch: patch}
	defer func() {
		if recovered := recover(); recovered != nil {
			row.Error = describe(recovered)
		}
	}()
	result, err := strategicpatch.StrategicMergePatch(original, patch, corev1.Pod{})
	if err != nil {
		row.Error = err.Error()
	} else {
		row.Result = result
	}
	return row
}

// mergeClipped merges maps whose slices have no spare capacity, so that append never writes into a
// slice that is still in use.
func mergeClipped(original, patch json.RawMessage) (row mergeRow) {
	row = mergeRow{Original: original, Patch: patch}
	defer func() {
		if recovered := recover(); recovered != nil {
			row.Error = describe(recovered)
		}
	}()
	result, err := strategicpatch.StrategicMergeMapPatch(decodeClipped(original), decodeClipped(patch), corev1.Pod{})
	if err != nil {
		row.Error = err.Error()
	} else {
		row.Result = text(result)
	}
	return row
}

func decodeClipped(encoded json.RawMessage) map[string]any {
	decoder := json.NewDecoder(strings.NewReader(string(encoded)))
	decoder.UseNumber()
	var value map[string]any
	check(decoder.Decode(&value))
	return clip(value).(map[string]any)
}

// clip also converts numbers to the types to which Kubernetes decodes them.
func clip(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name := range value {
			value[name] = clip(value[name])
		}
	case []any:
		for i := range value {
			value[i] = clip(value[i])
		}
		return slices.Clip(value)
	case json.Number:
		if integer, err := value.Int64(); err == nil {
			return integer
		}
		float, err := value.Float64()
		check(err)
		return float
	}
	return value
}

// patchGenerator generates patches: objects of the same kind as a pod, with directives.
type patchGenerator struct {
	generator
}

func (g *patchGenerator) patch(original map[string]any) map[string]any {
	patch := g.pod()
	// Most fields of a patch exist in the pod.
	for _, name := range sortedNames(original) {
		if g.IntN(3) == 0 {
			patch[name] = decodeClipped(text(map[string]any{"": original[name]}))[""]
		}
	}
	g.direct(patch)
	return patch
}

// direct adds directives to the objects and lists of a patch.
func (g *patchGenerator) direct(patch map[string]any) {
	names := sortedNames(patch)
	for _, name := range names {
		switch value := patch[name].(type) {
		case map[string]any:
			g.direct(value)
		case []any:
			for _, item := range value {
				if object, is := item.(map[string]any); is {
					g.direct(object)
				}
			}
			g.directList(patch, name, value)
		}
	}
	switch g.IntN(60) {
	case 0:
		patch["$patch"] = []any{"replace", "delete", "merge", "delete", "replace", nil, 5}[g.IntN(7)]
	case 1:
		retained := []any{}
		for _, name := range names {
			if g.IntN(12) > 0 {
				retained = append(retained, name)
			}
		}
		patch["$retainKeys"] = append(retained, "name", "image")
	}
}

func (g *patchGenerator) directList(patch map[string]any, name string, list []any) {
	switch g.IntN(25) {
	case 0, 1:
		patch["$setElementOrder/"+name] = g.order(list)
	case 2:
		for _, item := range list {
			if object, is := item.(map[string]any); is {
				object["$patch"] = []any{"delete", "delete", "replace", "other"}[g.IntN(4)]
				break
			}
		}
	case 3:
		patch["$deleteFromPrimitiveList/"+name] = list
		delete(patch, name)
	case 4:
		if name == "finalizers" || name == "args" {
			patch["$deleteFromPrimitiveList/"+name] = []any{"a", "c"}
		}
	}
}

// order returns the names of a list's items, in their order, and some other names.
func (g *patchGenerator) order(list []any) []any {
	order := []any{}
	for _, item := range append(slices.Clone(list), g.other(list)...) {
		if object, is := item.(map[string]any); is {
			named := map[string]any{}
			for _, key := range []string{"name", "containerPort", "mountPath", "devicePath", "ip", "topologyKey", "uid"} {
				if value, has := object[key]; has {
					named[key] = value
				}
			}
			order = append(order, named)
		} else {
			order = append(order, item)
		}
	}
	if g.IntN(4) == 0 {
		slices.Reverse(order)
	}
	return order
}

func (g *patchGenerator) other(list []any) []any {
	if len(list) == 0 || g.IntN(2) == 0 {
		return nil
	}
	if _, is := list[0].(map[string]any); is {
		return []any{map[string]any{"name": "d", "containerPort": 9090, "mountPath": "d"}}
	}
	return []any{"d"}
}

// sortedNames returns the names of a map in sorted order.
func sortedNames[V any](values map[string]V) []string {
	return slices.Sorted(maps.Keys(values))
}

// edgeCases are pairs that random generation would rarely find.
var edgeCases = [][2]string{
	{`{}`, `{}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":null}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":null}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `null`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `7`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `"text"`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `[]`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":"text"}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[null]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[[]]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":["a"]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"image":"x"}]}}`},
	{`{"spec":{"containers":[{"image":"a"}]}}`, `{"spec":{"containers":[{"name":"x"}]}}`},
	{`{"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}}`, `{"spec":{"containers":[{"name":"x"},{"name":"b","image":"i"}]}}`},
	{`{"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}}`, `{"spec":{"containers":[{"name":"c","image":"i"},{"name":"a"}]}}`},
	{`{"spec":{"containers":[{"name":"a"},{"name":"a","image":"2"}]}}`, `{"spec":{"containers":[{"name":"a","tty":true}]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"name":"b","image":"1"},{"name":"b","image":"2","tty":true}]}}`},
	{`{"spec":{"containers":[{"name":"a","env":[{"name":"A","value":"1"},{"name":"B"}]}]}}`, `{"spec":{"containers":[{"name":"a","env":[{"name":"A","$patch":"delete"}]}]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"name":"b","env":[{"name":"A","$patch":"delete"}],"image":null}]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"$patch":"replace"},{"name":"z"}]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":[{"$patch":"delete"}]}}`},
	{`{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`, `{"spec":{"volumes":[{"name":"v","$retainKeys":["name","configMap"],"configMap":{"name":"c"}}]}}`},
	{`{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`, `{"spec":{"volumes":[{"name":"v","$retainKeys":["name"],"configMap":{"name":"c"}}]}}`},
	{`{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`, `{"spec":{"volumes":[{"name":"v","$retainKeys":"name"}]}}`},
	{`{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`, `{"spec":{"volumes":[{"name":"v","configMap":{"name":"c"}}]}}`},
	{`{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"finalizers":["d","b"]}}`},
	{`{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["b"]}}`},
	{`{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":null}}`},
	{`{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$deleteFromPrimitiveList":["b"]}}`},
	{`{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$deleteFromPrimitiveList/labels":["b"]}}`},
	{`{"metadata":{"name":"a"}}`, `{"metadata":{"$deleteFromPrimitiveList/name":"b"}}`},
	{`{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"$deleteFromPrimitiveList/labels":{"b":"1"}}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$deleteFromPrimitiveList/containers":[{"name":"a","tty":true}]}}`},
	{`{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$setElementOrder/finalizers":["c","b","a"]}}`},
	{`{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$setElementOrder/finalizers":["d","b"],"finalizers":["d"]}}`},
	{`{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$setElementOrder/finalizers":["b"],"finalizers":["d"]}}`},
	{`{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$setElementOrder/finalizers":null}}`},
	{`{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"$setElementOrder":["a"]}}`},
	{`{"metadata":{"finalizers":[]}}`, `{"metadata":{"$setElementOrder/finalizers":["a"],"finalizers":[]}}`},
	{`{"metadata":{}}`, `{"metadata":{"$setElementOrder/finalizers":["a"]}}`},
	{`{"metadata":{}}`, `{"metadata":{"$setElementOrder/finalizers":["b","a"],"finalizers":["b","a"]}}`},
	{`{"spec":{"containers":null}}`, `{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"a"}]}}`},
	{`{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}}`},
	{`{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`, `{"spec":{"$setElementOrder/containers":["b"]}}`},
	{`{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`, `{"spec":{"$setElementOrder/containers":[{"image":"b"}]}}`},
	{`{"spec":{"containers":[{"image":"x"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"b"}]}}`},
	{`{"spec":{"containers":["x"]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"b"}]}}`},
	{`{"spec":{"containers":["x"]}}`, `{"spec":{"$setElementOrder/containers":["x"]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":["a"]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"image":"a"}]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$setElementOrder/containers":[{"image":"a"}],"containers":[{"name":"a"}]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$setElementOrder/containers":["a"],"containers":[{"name":"a"}]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"a"},{"image":"x"}],"containers":[{"name":"a"}]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$setElementOrder/containers":[],"containers":[{"name":"b"},{"name":"a"}]}}`},
	{`{"spec":{"containers":[{"name":"a"},{"name":"c"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"c"}],"containers":[{"name":"a","$patch":"delete"},{"name":"b"}]}}`},
	{`{"spec":{}}`, `{"spec":{"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"b","$patch":"delete"}]}}`},
	{`{"spec":{"tolerations":[{"key":"a"}]}}`, `{"spec":{"$setElementOrder/tolerations":["a"],"tolerations":[{"key":"b"}]}}`},
	{`{"spec":{"containers":[{"name":"a","args":["x","y"]}]}}`, `{"spec":{"containers":[{"name":"a","$setElementOrder/args":["y","x"],"args":["y","x"]}]}}`},
	{`{"spec":{"containers":[{"name":"a","livenessProbe":{"periodSeconds":[1]}}]}}`, `{"spec":{"containers":[{"name":"a","livenessProbe":{"periodSeconds":[2]}}]}}`},
	{`{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":{"a":{}}}}}]}}`, `{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":{"a":{"b":1}}}}}]}}`},
	{`{"spec":{"containers":[{"name":"a","image":{"a":{}}}]}}`, `{"spec":{"containers":[{"name":"a","image":{"a":{"b":1}}}]}}`},
	{`{"spec":{"containers":{"a":{}}}}`, `{"spec":{"containers":{"a":{"b":1}}}}`},
	{`{"spec":{"activeDeadlineSeconds":{"a":{}}}}`, `{"spec":{"activeDeadlineSeconds":{"a":{"b":1}}}}`},
	{`{"spec":{"tolerations":[{"key":"a"}]}}`, `{"spec":{"tolerations":[{"key":"b"}]}}`},
	{`{"spec":{"securityContext":{"runAsUser":1}}}`, `{"spec":{"securityContext":{"fsGroup":2,"runAsUser":null}}}`},
	{`{"spec":{"securityContext":{"runAsUser":1}}}`, `{"spec":{"securityContext":{"$patch":"replace","fsGroup":2}}}`},
	{`{"spec":{"securityContext":{"runAsUser":1}}}`, `{"spec":{"securityContext":{"$patch":"delete"}}}`},
	{`{"spec":{"securityContext":{"runAsUser":1}}}`, `{"spec":{"securityContext":{"$patch":"merge"}}}`},
	{`{"spec":{"securityContext":[1]}}`, `{"spec":{"securityContext":[2]}}`},
	{`{"spec":{"nodeSelector":{"a":{"b":"c"}}}}`, `{"spec":{"nodeSelector":{"a":{"b":"d"}}}}`},
	{`{"spec":{"nodeSelector":[1]}}`, `{"spec":{"nodeSelector":[2]}}`},
	{`{"other":{"a":1}}`, `{"other":{"a":2}}`},
	{`{"other":[1]}`, `{"other":[2]}`},
	{`{"other":1}`, `{"other":2}`},
	{`{"spec":{"Containers":[{"name":"a"}]}}`, `{"spec":{"Containers":[{"name":"b"}]}}`},
	{`{"spec":{"hostAliases":[{"ip":"1","hostnames":["a"]}]}}`, `{"spec":{"hostAliases":[{"ip":"1","hostnames":["b"]}]}}`},
	{`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80},{"containerPort":90}]}]}}`, `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":90,"name":"x"},{"containerPort":70}]}]}}`},
	{`{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1"}}}]}}`, `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":null,"memory":"1Gi"}}}]}}`},
	{`{"metadata":{"finalizers":["a",1]}}`, `{"metadata":{"finalizers":["b"]}}`},
	{`{"metadata":{"finalizers":[["a"]]}}`, `{"metadata":{"finalizers":["b"]}}`},
	{`{"spec":{"containers":[]}}`, `{"spec":{"containers":[7]}}`},
	{`{"spec":{"containers":[7]}}`, `{"spec":{"containers":[]}}`},
	{`{"metadata":{"finalizers":[]}}`, `{"metadata":{"finalizers":[null]}}`},
	{`{"spec":{"containers":[{"name":"a","image":"1"},{"name":"a","image":"2"}]}}`, `{"spec":{"$setElementOrder/containers":[],"containers":[{"name":"x"}]}}`},
	{`{"spec":{"containers":[]}}`, `{"spec":{"containers":[null]}}`},
	{`{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"containers":{"$patch":"delete"}}}`},
	{`{"metadata":{"name":"a"}}`, `{"metadata":{"$retainKeys":"name"}}`},
	{`{}`, `{"$setElementOrder/metadata":[]}`},
	{`{"spec":{"securityContext":[1]}}`, `{"spec":{"$setElementOrder/securityContext":[2],"securityContext":[2]}}`},
	{`{"metadata":{"finalizers":["c","a","b"]}}`, `{"metadata":{"$setElementOrder/finalizers":[],"finalizers":["x","b","y"]}}`},
	{`{"metadata":{"finalizers":["a","b"]}}`, `{"metadata":{"$setElementOrder/finalizers":[],"finalizers":["b","x","a","y","z"]}}`},
	{`{"spec":{"containers":[{"name":"c"},{"name":"a"},{"name":"b"}]}}`, `{"spec":{"$setElementOrder/containers":[],"containers":[{"name":"x"},{"name":"b"},{"name":"y"}]}}`},
	{`{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`, `{"spec":{"$setElementOrder/containers":[],"containers":[{"name":"b"},{"name":"x"},{"name":"a"},{"name":"y"}]}}`},
	{`{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"a"},{"name":"b","$patch":"delete"}]}}`},
	{`{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"$patch":"replace"},{"name":"c"}]}}`},
	{`{"metadata":{"labels":{"é":"<&>"}}}`, `{"metadata":{"labels":{"~/":"x","__proto__":"y"}}}`},
}
