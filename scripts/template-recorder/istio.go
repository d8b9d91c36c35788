package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

// istioFunctions reimplements Istio's functions that need no types of Istio or Kubernetes.
var istioFunctions = template.FuncMap{
	"contains":  func(part, text string) bool { return strings.Contains(text, part) },
	"directory": func(path string) string { directory, _ := filepath.Split(path); return directory },
	"env":       func(name, otherwise string) string { return otherwise },
	"fromJSON": func(text string) any {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			return "{}"
		}
		return value
	},
	"indent": func(count int, text string) string {
		return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", max(count, -count)))
	},
	"isset":        func(values map[string]string, key string) bool { _, ok := values[key]; return ok },
	"mergeMaps":    mergeMaps,
	"omit":         omit,
	"strdict":      strdict,
	"structToJSON": structToJSON,
	"toJSON": func(values map[string]string) string {
		if values == nil {
			return "{}"
		}
		return encode(values)
	},
	"toJsonMap": func(all ...map[string]string) string { return encode(mergeMaps(all...)) },
	"toLower":   strings.ToLower,
	"toYaml": func(value any) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return string(text)
	},
	"valueOrDefault": func(value, otherwise any) any {
		if value == nil || value == "" {
			return otherwise
		}
		return value
	},
}

func encode(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

func structToJSON(value any) string {
	if value == nil {
		return "{}"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "{}"
	}
	return string(text)
}

func mergeMaps(all ...map[string]string) map[string]string {
	if len(all) == 0 {
		return nil
	}
	merged := map[string]string{}
	for _, one := range all {
		maps.Copy(merged, one)
	}
	return merged
}

func omit(values map[string]string, keys ...string) map[string]string {
	kept := map[string]string{}
	for key, value := range values {
		if !slices.Contains(keys, key) {
			kept[key] = value
		}
	}
	return kept
}

func strdict(words ...string) map[string]string {
	values := map[string]string{}
	for index := 0; index < len(words); index += 2 {
		values[words[index]] = ""
		if index+1 < len(words) {
			values[words[index]] = words[index+1]
		}
	}
	return values
}
