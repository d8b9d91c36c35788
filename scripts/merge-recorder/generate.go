package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// generator generates JSON for Go types, with few names and values, so that two objects overlap.
type generator struct {
	*rand.Rand
	// The percentages of nulls, of values of a wrong type, and of unknown fields.
	nulls, mistypes, unknowns int
	// Whether quantities and similar types use all formats that Go reads, or only the canonical one.
	loose bool
}

// fields lists the fields that matter to merging. An unlisted struct gets any field, rarely.
var fields = map[string][]string{
	"Pod":                {"metadata", "spec", "spec", "spec"},
	"ObjectMeta":         {"name", "labels", "annotations", "finalizers", "ownerReferences", "creationTimestamp"},
	"PodSpec":            {"containers", "containers", "initContainers", "volumes", "imagePullSecrets", "hostAliases", "topologySpreadConstraints", "tolerations", "schedulingGates", "resourceClaims", "nodeSelector", "securityContext", "dnsConfig", "terminationGracePeriodSeconds", "hostNetwork", "affinity"},
	"Container":          {"name", "image", "command", "args", "ports", "env", "envFrom", "resources", "volumeMounts", "volumeDevices", "livenessProbe", "lifecycle", "securityContext", "tty"},
	"Volume":             {"name", "emptyDir", "configMap", "secret", "projected"},
	"Affinity":           {"nodeAffinity"},
	"NodeAffinity":       {"requiredDuringSchedulingIgnoredDuringExecution"},
	"EnvVar":             {"name", "value", "valueFrom"},
	"PodSecurityContext": {"runAsUser", "fsGroup", "supplementalGroups", "sysctls"},
	"PodStatus":          {"phase", "conditions"},
}

var names = []string{"a", "b", "c", "d"}

// value returns JSON of the type. The depth limits the size.
func (g *generator) value(typ reflect.Type, depth int) any {
	if g.IntN(100) < g.nulls {
		return nil
	}
	if g.IntN(100) < g.mistypes {
		return []any{"text", 7, true, []any{}, []any{"x"}, []any{map[string]any{"name": "a"}}, map[string]any{}, map[string]any{"a": "b"}, 1.5}[g.IntN(9)]
	}
	switch reflect.Zero(typ).Interface().(type) {
	case resource.Quantity:
		return g.quantity()
	case intstr.IntOrString:
		return []any{80, 8080, "http", "50%"}[g.IntN(4)]
	case metav1.Time:
		return g.time()
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return g.value(typ.Elem(), depth)
	case reflect.String:
		return names[g.IntN(len(names))]
	case reflect.Bool:
		return g.IntN(2) == 0
	case reflect.Int32, reflect.Int64:
		return []int{0, 1, 80, 8080}[g.IntN(4)]
	case reflect.Slice:
		return g.list(typ, depth)
	case reflect.Map:
		result := map[string]any{}
		for range g.size() {
			result[names[g.IntN(len(names))]] = g.value(typ.Elem(), depth)
		}
		return result
	case reflect.Struct:
		return g.object(typ, depth)
	}
	panic("no generator for " + typ.String())
}

func (g *generator) size() int {
	return []int{0, 1, 1, 2, 2, 3, 4}[g.IntN(7)]
}

func (g *generator) list(typ reflect.Type, depth int) any {
	result := []any{}
	for range g.size() {
		result = append(result, g.value(typ.Elem(), depth-1))
	}
	return result
}

func (g *generator) object(typ reflect.Type, depth int) any {
	result := map[string]any{}
	available := jsonFields(typ)
	wanted := fields[typ.Name()]
	if wanted == nil {
		wanted = sortedNames(available)
	}
	for range 1 + g.IntN(4) {
		name := wanted[g.IntN(len(wanted))]
		field := available[name]
		if depth <= 0 && !isLeaf(field.Type) {
			continue
		}
		if g.IntN(100) < g.unknowns {
			result[[]string{"unknown", strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:]}[g.IntN(3)]] = g.value(field.Type, depth-1)
			continue
		}
		result[name] = g.value(field.Type, depth-1)
	}
	// The keys by which lists are merged are usually present.
	for _, key := range []string{"name", "containerPort", "mountPath", "devicePath", "ip", "topologyKey", "uid"} {
		if field, has := available[key]; has && g.IntN(100) < 97 && typ.Name() != "ObjectMeta" {
			if _, set := result[key]; !set {
				result[key] = g.value(field.Type, 0)
			}
		}
	}
	return result
}

func isLeaf(typ reflect.Type) bool {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return typ.Kind() != reflect.Struct && typ.Kind() != reflect.Slice && typ.Kind() != reflect.Map
}

func (g *generator) quantity() any {
	if !g.loose {
		return []any{"1", "500m", "1Gi"}[g.IntN(3)]
	}
	return []any{"1", "1000m", "0.5", "1.5Gi", "1024Mi", "2000", 1, 0.25, "1e3", "0", "", "abc", " 5 "}[g.IntN(13)]
}

func (g *generator) time() any {
	if !g.loose {
		return "2026-01-02T03:04:05Z"
	}
	return []any{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05+02:00", "0001-01-01T00:00:00Z", "yesterday"}[g.IntN(5)]
}

// jsonFields returns the fields of a struct and of its embedded structs, by JSON name.
func jsonFields(typ reflect.Type) map[string]reflect.StructField {
	result := map[string]reflect.StructField{}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			for inner, innerField := range jsonFields(field.Type) {
				result[inner] = innerField
			}
		} else if name != "-" && field.IsExported() {
			result[name] = field
		}
	}
	return result
}

func (g *generator) pod() map[string]any {
	return g.object(reflect.TypeFor[corev1.Pod](), 7).(map[string]any)
}

// text returns the JSON of a generated value, so that each user decodes a separate copy.
func text(value any) json.RawMessage {
	encoded, err := json.Marshal(value)
	check(err)
	return encoded
}

func describe(recovered any) string {
	return fmt.Sprintf("panic: %v", recovered)
}
