package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const wantedPods = 3000

// podRow is the JSON of a pod, and the JSON after Go has decoded and encoded it.
type podRow struct {
	Input  json.RawMessage `json:"i"`
	Output json.RawMessage `json:"o,omitempty"`
	Error  string          `json:"e,omitempty"`
}

func recordPods() []podRow {
	random := rand.New(rand.NewPCG(2026, 10))
	rows := []podRow{}
	for _, input := range podEdgeCases {
		rows = append(rows, decodePod(json.RawMessage(input)))
	}
	for len(rows) < wantedPods {
		g := generator{Rand: random, nulls: 4, unknowns: 4, mistypes: []int{0, 0, 2}[random.IntN(3)], loose: random.IntN(2) == 0}
		if pod := g.pod(); !spelledTwice(pod) {
			rows = append(rows, decodePod(text(pod)))
		}
	}
	return rows
}

// spelledTwice reports whether an object has two names that differ only in case. Go decodes the
// second value into the result of the first.
func spelledTwice(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		seen := map[string]bool{}
		for name, member := range value {
			if seen[strings.ToLower(name)] || spelledTwice(member) {
				return true
			}
			seen[strings.ToLower(name)] = true
		}
	case []any:
		return slices.ContainsFunc(value, spelledTwice)
	}
	return false
}

func decodePod(input json.RawMessage) podRow {
	var pod corev1.Pod
	if err := json.Unmarshal(input, &pod); err != nil {
		return podRow{Input: input, Error: err.Error()}
	}
	return podRow{Input: input, Output: text(pod)}
}

var podEdgeCases = []string{
	`{}`, `null`, `"x"`, `7`, `[]`, `true`,
	`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","creationTimestamp":null},"spec":{},"status":{}}`,
	`{"kind":7}`,
	`{"metadata":null,"spec":null,"status":null}`,
	`{"metadata":"x"}`,
	`{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z"}}`,
	`{"metadata":{"creationTimestamp":"2026-01-02T03:04:05.5Z"}}`,
	`{"metadata":{"creationTimestamp":"2026-01-02T23:04:05-07:00"}}`,
	`{"metadata":{"creationTimestamp":"2026-01-02T3:04:05Z"}}`,
	`{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"}}`,
	`{"metadata":{"creationTimestamp":5}}`,
	`{"metadata":{"creationTimestamp":{}}}`,
	`{"metadata":{"deletionTimestamp":null}}`,
	`{"metadata":{"deletionTimestamp":"2026-02-03T04:05:06Z"}}`,
	`{"metadata":{"labels":{"a":null,"b":"c"}}}`,
	`{"metadata":{"labels":{"a":1}}}`,
	`{"metadata":{"labels":[]}}`,
	`{"metadata":{"labels":{}}}`,
	`{"metadata":{"managedFields":[{"manager":"m","fieldsV1":{"f:a":{}},"time":"2026-01-02T03:04:05Z"}]}}`,
	`{"metadata":{"generation":1.5}}`,
	`{"metadata":{"generation":true}}`,
	`{"spec":{"containers":null}}`,
	`{"spec":{"containers":[]}}`,
	`{"spec":{"containers":[null]}}`,
	`{"spec":{"containers":["x"]}}`,
	`{"spec":{"containers":"x"}}`,
	`{"spec":{"containers":[{}]}}`,
	`{"spec":{"containers":[{"NAME":"a"}]}}`,
	`{"spec":{"containers":[{"name":"a","unknown":1}]}}`,
	`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":"80"}]}]}}`,
	`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80.5}]}]}}`,
	`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":2147483648}]}]}}`,
	`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":-1,"hostPort":0,"protocol":"TCP"}]}]}}`,
	`{"spec":{"containers":[{"name":"a","imagePullPolicy":5}]}}`,
	`{"spec":{"containers":[{"name":"a","command":[null,"x"]}]}}`,
	`{"spec":{"containers":[{"name":"a","command":[5]}]}}`,
	`{"spec":{"containers":[{"name":"a","env":[{"name":"x","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}}]}]}}`,
	`{"spec":{"containers":[{"name":"a","env":[{"name":"x","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1000m"}}}]}]}}`,
	`{"spec":{"containers":[{"name":"a","env":[{"name":"x","valueFrom":{"configMapKeyRef":{"key":"k","optional":false}}}]}]}}`,
	`{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":"http"}}}]}}`,
	`{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":80}}}]}}`,
	`{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":1.5}}}]}}`,
	`{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":true}}}]}}`,
	`{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":[]}}}]}}`,
	`{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":null}}}]}}`,
	`{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":"x"}}]}}`,
	`{"spec":{"containers":[{"name":"a","livenessProbe":{"grpc":{"port":5}}}]}}`,
	`{"spec":{"containers":[{"name":"a","livenessProbe":{"grpc":{"port":5,"service":""}}}]}}`,
	`{"spec":{"containers":[{"name":"a","livenessProbe":{}}]}}`,
	`{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1000m","memory":"1024Mi"}}}]}}`,
	`{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":1,"memory":null}}}]}}`,
	`{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":true}}}]}}`,
	`{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"x"}}}]}}`,
	`{"spec":{"containers":[{"name":5,"resources":{"limits":{"cpu":"x"}}}]}}`,
	`{"spec":{"containers":[{"name":5},{"image":5}]}}`,
	`{"spec":{"containers":[{"name":"a","resources":"x"}]}}`,
	`{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`,
	`{"spec":{"volumes":[{"name":"v","emptyDir":null}]}}`,
	`{"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1.5Gi"}}]}}`,
	`{"spec":{"volumes":[{"name":"v","emptyDir":"x"}]}}`,
	`{"spec":{"volumes":[{"name":"v","configMap":{"name":"c","defaultMode":420,"optional":5}}]}}`,
	`{"spec":{"hostNetwork":"true"}}`,
	`{"spec":{"hostNetwork":false,"automountServiceAccountToken":false,"terminationGracePeriodSeconds":0}}`,
	`{"spec":{"nodeSelector":{},"tolerations":[],"securityContext":{},"overhead":{}}}`,
	`{"spec":{"ephemeralContainers":[{"name":"e","targetContainerName":"a","image":5}]}}`,
	`{"spec":{"topologySpreadConstraints":[{}]}}`,
	`{"spec":{"terminationGracePeriodSeconds":9007199254740993}}`,
	`{"spec":{"terminationGracePeriodSeconds":1e+30}}`,
	`{"status":{"phase":"Running","containerStatuses":[{"name":"a"}],"conditions":[{"type":"Ready","status":"True"}]}}`,
	`{"status":{"startTime":"soon"}}`,
}
