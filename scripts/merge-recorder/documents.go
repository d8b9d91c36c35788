package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"sigs.k8s.io/yaml"
)

// documentRow is a YAML text, and the JSON to which sigs.k8s.io/yaml converts it.
type documentRow struct {
	YAML  string          `json:"y"`
	JSON  json.RawMessage `json:"j,omitempty"`
	Error string          `json:"e,omitempty"`
}

func recordDocuments() []documentRow {
	rows := []documentRow{}
	add := func(document string) {
		converted, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			rows = append(rows, documentRow{YAML: document, Error: err.Error()})
		} else {
			rows = append(rows, documentRow{YAML: document, JSON: converted})
		}
	}
	for _, document := range documents {
		add(document)
	}
	for _, scalar := range scalars {
		add("a: " + scalar + "\n")
		add("- " + scalar + "\n")
		add(scalar + ": a\n")
		add("{" + scalar + ": [" + scalar + "]}\n")
		add("a: '" + scalar + "'\n")
	}
	random := rand.New(rand.NewPCG(2026, 12))
	for range 1500 {
		var scalar strings.Builder
		for range 1 + random.IntN(6) {
			scalar.WriteString([]string{"0", "1", "7", "8", "x", "o", "b", "e", "E", ".", "-", "+", "_", "f", "y", "n", "T"}[random.IntN(17)])
		}
		add(fmt.Sprintf("a: %s\n", scalar.String()))
	}
	return rows
}

var scalars = []string{
	"y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "true", "True", "TRUE", "tRue", "false", "False", "FALSE", "on", "On", "ON", "off", "Off", "OFF", "oN", "yEs",
	"~", "null", "Null", "NULL", "nULL", "<<", "=", "0", "-0", "+0", "00", "007", "0777", "08", "0o17", "0O17", "0x1F", "0X1f", "-0x1F", "+0x1f", "0b101", "-0b101", "0B11", "0b", "0b2", "0xg",
	"1_000", "1__0", "_1", "1_", "0x_f", "123", "-123", "+123", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "18446744073709551616",
	"1.5", "-1.5", "+1.5", ".5", "-.5", "+.5", "1.", "1.e3", "1e3", "1E3", "1e+3", "1e-3", "1.5e3", ".5e3", "1e400", "-1e400", ".1e400", "1e", "e1", "1.5.2", "1_0.5", "._5", ".5_5", ".5__5", ".5_", ".5e1_0", ".5_e1", ".", "..", "-", "+", "--1", "1-",
	"0.1", "100000000000000000000000", "1e21", "1e-7", "123456789.125", "0.30000000000000004", "-0.0",
	".inf", "-.inf", "+.inf", ".Inf", ".INF", ".iNf", ".nan", ".NaN", ".NAN", "inf", "NaN",
	"2001-01-01", "2001-1-1", "2001-01-01T00:00:00Z", "2001-01-01 00:00:00", "12:30:45", "190:20:30", "1:1",
	"10m", "1Gi", "100Mi", "1.2.3.4", "v1.0", "1.24", "1.10", "latest", "a b", "a  b", "http://x:80/y", "a#b", "é", "日本", "😀",
	"!!str 5", "!!str yes", "!!int 5", "!!int \"5\"", "!!int x", "!!float 5", "!!float x", "!!bool yes", "!!bool x", "!!null x", "!!null ~", "!!binary aGVsbG8=", "!!binary ?", "!!timestamp 2001-01-01", "!foo bar", "!!foo bar", "! 5",
	"\"y\"", "'n'", "\"1\"", "\"\\u00e9\\n\"", "\"a\\/b\"",
}

var documents = []string{
	"", "\n", "# only a comment\n", "---\n", "---\n---\n", "...\n", "--- a\n", "a", "5", "y", "[]", "{}", "- a\n- b\n", "a: 1\n---\nb: 2\n", "---\na: 1\n...\n---\nb: [\n", "%YAML 1.1\n---\na: y\n",
	"a:\n", "a: \n  b:\n", "a:\n- b\n- c\n", "a:\n  - b\n  -\n  - c: d\n", "- - a\n  - b\n- c\n", "a: {b: c, d: [e, f]}\n", "a: {b: c,}\n", "a: [b, c,]\n", "a: [\nb,\nc\n]\n", "a: {\n  b: c\n}\n",
	"a: {b}\n", "a: [b: c]\n", "{a: 1, a: 2}\n", "a: 1\na: 2\n", "a: 1\nb:\n  c: 1\n  c: 2\n", "1: a\n\"1\": b\n",
	"a: |\n  b\n  c\n", "a: |-\n  b\n", "a: |+\n  b\n\n", "a: >\n  b\n  c\n\n  d\n", "a: >-\n  b\n   c\n  d\n", "a: |2\n   b\n  c\n", "a: |\n\n  b\n", "a: \"b\n  c\"\n", "a: 'b\n\n  c'\n", "a: b\n  c\n", "a: |\n  b # no comment\n",
	"a: b # comment\n", "a: 'it''s'\n", "a: \"tab\\t\"\n", "a: \"\\x41\"\n", "a: \"\\q\"\n", "a: 'open\n", "a: \"open\n", "a: [open\n", "a: {open\n", "a: b: c\n", "a\nb: c\n", "a: 1\n b: 2\n", "  a: 1\nb: 2\n", "a: 1\n\tb: 2\n", "\ta: 1\n", "a:\tb\n", "- a\nb: c\n", "a: - b\n", "a: *x\n", "a: @x\n", "a: `x`\n", "a: %x\n", "a: !x\n", "a: &x\n", "a: x:\n", "a: x:y\n", "? a\n: b\n", "? [a]\n: b\n", "? {a: b}\n: c\n", "{[a]: b}\n", "{{a: b}: c}\n", "a: {{ .Values.x }}\n", ": a\n", "? \n: a\n", "~: a\n", "null: a\n",
	"a: &x 1\nb: *x\n", "a: &x [1, 2]\nb: *x\n", "a: &x {b: 1}\nc: *x\n", "a: &x [*x]\n", "a: &x {b: *x}\n", "a: &x 1\nb: &x 2\nc: *x\n", "&x a: 1\nb: *x\n", "a: &x y\n*x : b\n",
	"a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n", "a: &x {b: 1, c: 2}\nd:\n  c: 3\n  <<: *x\n", "a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne:\n  <<: [*x, *y]\n", "a:\n  <<: {b: 1}\n", "a:\n  <<: [{b: 1}, {c: 2}]\n", "a:\n  <<: 5\n", "a:\n  <<: [5]\n", "a: &x 5\nb:\n  <<: *x\n", "a: &x [1]\nb:\n  <<: *x\n", "a: &x {b: 1}\nc: {<<: *x, <<: {d: 2}}\n", "a:\n  \"<<\": {b: 1}\n", "a:\n  !!merge <<: {b: 1}\n", "a: &x {b: {c: 1}}\nd:\n  <<: *x\n  b: {e: 2}\n", "a:\n  <<:\n", "a: [<<]\n", "a: &x {b: 1}\nc:\n  <<: *x\n  d: *x\n",
	"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
	"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
	strings.Repeat("[", 90) + strings.Repeat("]", 90), strings.Repeat("{a: ", 90) + "1" + strings.Repeat("}", 90),
	"a: \x01\n", "\ufeffa: 1\n", "a: b\r\nc: d\r\n", "a: |\r\n  b\r\n  c\r\n", "a: \"b\u2028c\"\n", "__proto__: 1\n", "a: {__proto__: {b: 1}}\n", "constructor: 1\ntoString: 2\n",
	"policy: enabled\ntemplates:\n  sidecar: |\n    {{ if .x }}\n    a: b\n    {{ end }}\n", "args:\n- --flag\n- -c\n- \"{{ .x }}\"\n- 80\n- 1.5\n- yes\n",
	"metadata:\n  annotations: {\n    a/b: \"1\",\n    c: x\n  }\nspec:\n  containers:\n  - name: x\n    args: [\"a\", 'b', c]\n",
	"metadata:\n  labels: {\n  a: b\n  }\n", "a: [\n]\n", "a: {\n}\n", "a: {b: 1,\nc: 2}\n", "a:\n  b: [1,\n2]\n",
}
