package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"sort"
	"strings"

	"github.com/prometheus/prometheus/util/strutil"
)

type generator struct{ *rand.Rand }

func splitLines(text string) []string { return strings.Split(strings.Trim(text, "\n"), "\n") }

func (g *generator) chance(percent int) bool { return g.Intn(100) < percent }

func pick[T any](g *generator, choices ...T) T { return choices[g.Intn(len(choices))] }

// A change modifies a pod so that it reaches the branches of one of Istio's functions.
type change struct {
	group string
	apply func(g *generator, one *Case)
}

var changes = []change{
	{"injectRequired", decide},
	{"validateAnnotations", annotate},
	{"selectTemplates", chooseTemplates},
	{"parseInjectEnvs", choosePath},
	{"applyPrometheusMerge", scrape},
	{"DumpAppProbers", probe},
	{"reapplyOverwrittenContainers", ownContainers},
	{"adjustInitContainerUser", proxyUser},
	{"reinsertOverrides", overrides},
	{"stripPod", earlierStatus},
	{"mergeOrAppendProbers", knownProbers},
	{"GetDeployMetaFromPod", owners},
	{"ProxyImage", imageType},
	{"reorderPod", order},
	{"MergeProxyConfig", proxyConfig},
	{"applySecurePrometheusAnnotation", securePort},
	{"StrategicMergePatch", alike},
}

// newCase returns a pod for one group, in turns, sometimes with changes of other groups.
func (g *generator) newCase(number int, setup string) Case {
	if setup == "odd-policy" {
		// This configuration injects nothing.
		number = 0
	}
	one := Case{Setup: setup, Group: changes[number%len(changes)].group, Path: "/inject", Namespace: pick(g, "shop", "shop", "default")}
	containers := []any{g.container("web")}
	if g.chance(30) {
		containers = append(containers, g.container(pick(g, "log", "side", "Web2")))
	}
	one.Pod = object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": pick(g, "web", "web-0", "web.a")},
		"spec":     object{"containers": containers},
	}
	if g.chance(50) {
		metadata(&one)["namespace"] = pick(g, "shop", "demo", "")
	}
	if g.chance(70) {
		entries(&one, "labels")["app"] = "web"
	}
	if setup == "selectors" || setup == "odd-policy" {
		if g.chance(70) {
			entries(&one, "labels")["sidecar.istio.io/inject"] = "true"
		}
	}
	changes[number%len(changes)].apply(g, &one)
	for index := range changes {
		if index != number%len(changes) && index != 1 && g.chance(6) {
			changes[index].apply(g, &one)
		}
	}
	spellOnce(&one)
	return one
}

// edited returns a pod that Istio has injected, unchanged or with changes of a user.
func (g *generator) edited(before Case) Case {
	one := Case{Setup: before.Setup, Group: "reinjection", Path: before.Path, Namespace: before.Namespace, Pod: clone(before.Result)}
	annotations := entries(&one, "annotations")
	switch g.Intn(10) {
	case 0:
		delete(annotations, "sidecar.istio.io/status")
	case 1:
		delete(annotations, "proxy.istio.io/overrides")
	case 2:
		for _, container := range containersOf(&one) {
			container["image"] = "changed:2"
		}
	case 3:
		for _, container := range containersOf(&one) {
			if container["name"] == "istio-proxy" {
				container["image"] = "auto"
				container["env"] = []any{object{"name": "OWN", "value": "1"}}
			}
		}
	case 4:
		// A user removes the proxy.
		for _, list := range []string{"containers", "initContainers"} {
			var kept []any
			all, _ := spec(&one)[list].([]any)
			for _, container := range all {
				if container.(object)["name"] != "istio-proxy" {
					kept = append(kept, container)
				}
			}
			spec(&one)[list] = kept
		}
	case 5, 6, 7:
		pick(g, changes...).apply(g, &one)
	}
	spellOnce(&one)
	return one
}

func (g *generator) container(name string) object {
	container := object{"name": name, "image": pick(g, "app:1", "app:2@sha256:00")}
	if g.chance(40) {
		ports := []any{object{"name": "http", "containerPort": pick(g, 80, 8080)}}
		if g.chance(40) {
			ports = append(ports, object{"name": pick(g, "grpc", "http"), "containerPort": pick(g, 9090, 15020), "protocol": "TCP"}, object{"containerPort": 9443})
		}
		container["ports"] = ports
	}
	if g.chance(25) {
		container["env"] = []any{object{"name": pick(g, "A", "ISTIO_META_NETWORK"), "value": "own"}}
	}
	return container
}

// place moves a pod to one of the namespaces of a setup, if the setup has namespaces. Their cluster
// is that of istiod, so the path must not name another.
func (g *generator) place(one *Case, setup *Setup) {
	if setup.Namespaces == nil {
		return
	}
	names := []string{"missing"}
	for name := range setup.Namespaces {
		names = append(names, name)
	}
	sort.Strings(names)
	one.Path, one.Namespace = "/inject", pick(g, names...)
	// The API server accepts no pod whose namespace is not that of the request.
	if metadata(one)["namespace"] != nil {
		metadata(one)["namespace"] = one.Namespace
	}
	if setup.Platform != "" {
		// With a template that does not render the proxy, Istio's patch keeps the user that it resets.
		delete(entries(one, "annotations"), "inject.istio.io/templates")
	}
	// On OpenShift, the API server assigns a user before it calls webhooks.
	if setup.Platform != "" && g.chance(50) {
		for _, container := range containersOf(one) {
			container["securityContext"] = object{"runAsUser": pick(g, 1000, 1000, 1337), "runAsGroup": 0}
		}
	}
}

func decide(g *generator, one *Case) {
	values := []string{"true", "false", "", "yes", "True", "enabled"}
	name := "sidecar.istio.io/inject"
	delete(entries(one, "labels"), name)
	if g.chance(60) {
		entries(one, "labels")[name] = pick(g, values...)
	}
	if g.chance(40) {
		entries(one, "annotations")[name] = pick(g, values...)
	}
	labels := entries(one, "labels")
	switch g.Intn(4) {
	case 0:
		labels["app"] = pick(g, "job", "true", "yes", "1", "web", "api")
	case 1:
		labels["level"] = pick(g, "on", "true", "2", "1.5", "1.50", "8", "010", "off", "false", "16", "0x10", "", "null", "~", "1000", "1e3", "1e+03")
	case 2:
		labels["team"] = pick(g, "1", "core")
	}
	if g.chance(30) {
		labels["zone"] = "a"
	}
	if g.chance(8) {
		spec(one)["hostNetwork"] = g.chance(70)
	}
	if g.chance(10) {
		metadata(one)["namespace"] = pick(g, "kube-system", "kube-public", "kube-node-lease", "local-path-storage", "istio-system")
	}
	if g.chance(5) {
		one.Namespace = "kube-system"
	}
}

// annotated lists the annotations that Istio validates, with valid and invalid values.
var annotated = map[string][]string{
	"sidecar.istio.io/interceptionMode":                     {"REDIRECT", "TPROXY", "NONE", "redirect", "", "None"},
	"status.sidecar.istio.io/port":                          {"0", "15021", "8080", " 80 ", "65535", "65536", "-1", "a", "", "+1", "0x10", "08"},
	"readiness.status.sidecar.istio.io/periodSeconds":       {"0", "1", "4294967295", "4294967296", "-1", "1.5", "", "+2", "1_0"},
	"readiness.status.sidecar.istio.io/initialDelaySeconds": {"0", "007", " 1", "1s"},
	"readiness.status.sidecar.istio.io/failureThreshold":    {"30", "x"},
	"traffic.sidecar.istio.io/includeOutboundIPRanges":      {"*", "", "10.0.0.0/8", "10.0.0.0/8,fd00::/8", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/8, 1.0.0.0/8", "::1/128", "::ffff:1.2.3.4/96", "01.0.0.0/8", "1.2.3.4/08", "fe80::1%eth0/64", "*,1.0.0.0/8", ",", "::/0", "1.2.3/8", "1:2:3:4:5:6:7:8/64", "1::2::3/8", "12345::/8", "/8", "1.2.3.4/32", "1.2.3.4/33", "::/128", "1.2.3.4/007"},
	"traffic.sidecar.istio.io/excludeOutboundIPRanges":      {"*", "", "169.254.169.254/32", "a", "1.1.1.1/32,", "256.0.0.0/8", "::/129", "1.1.1.1/-1", "1.1.1.1/+1", "1.1.1.1/"},
	"traffic.sidecar.istio.io/includeInboundPorts":          {"*", "", "80", "80, 443", "80,,443", "70000", " ", "a", "80,*"},
	"traffic.sidecar.istio.io/excludeInboundPorts":          {"*", "", "80", "0,65535", "80;81"},
	"traffic.sidecar.istio.io/excludeOutboundPorts":         {"", "1,2,3", "1,65536", "\t80"},
	"traffic.sidecar.istio.io/excludeInterfaces":            {"", "eth0", "eth0, eth1", "eth0,", "averylongname0123", "fifteenletters0", "a b", "eth/0", "é", "-a", "eth0.1", "a_b", "a:b", "@x"},
	"traffic.sidecar.istio.io/kubevirtInterfaces":           {"net0", ",", "a;b"},
	"istio.io/reroute-virtual-interfaces":                   {"net0,net1", "x y"},
	"prometheus.istio.io/merge-metrics":                     {"true", "false", "1", "0", "t", "F", "TRUE", "True", "tRue", "yes", "", " true"},
	"sidecar.istio.io/proxyCPU":                             {"100m", "1", "1.5", "1e3", "-1", "", "1 ", "1Gi", "1gi", "a", "1\n", "0.0000000001", "+1", ".5", "5.", "1E", "1Ei", "1e", "1e-3", "--1", "0x1"},
	"sidecar.istio.io/proxyMemory":                          {"128Mi", "1M", "1m", "1MiB", "\u00851", "12345678901234567890", "1n", "1u", "1k", "1K", "1Ki"},
	"sidecar.istio.io/proxyCPULimit":                        {"2", "2.0.0", "\u007f"},
	"sidecar.istio.io/proxyMemoryLimit":                     {"1G", "1Pi", "1 Gi"},
	"sidecar.istio.io/rewriteAppHTTPProbers":                {"true", "false", "1", "0", "no", "", "T"},
	"sidecar.istio.io/nativeSidecar":                        {"true", "false", "True", ""},
	"fail":                                                  {"now"},
}

var annotatedNames = func() []string {
	names := make([]string, 0, len(annotated))
	for name := range annotated {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}()

func annotate(g *generator, one *Case) {
	for count := 1 + g.Intn(4); count > 0; count-- {
		name := pick(g, annotatedNames...)
		entries(one, "annotations")[name] = pick(g, annotated[name]...)
	}
	if g.chance(25) {
		entries(one, "annotations")["proxy.istio.io/config"] = pick(g, checkedConfigs...)
	}
}

func chooseTemplates(g *generator, one *Case) {
	entries(one, "annotations")["inject.istio.io/templates"] = pick(g, "sidecar", "gateway", "sidecar,extra", " sidecar , extra ", "both", "none", "twice",
		"words", "again", "extra", "check", "extra,sidecar,check", "missing", "", ",", "sidecar,", "broken", "sparse", "plain", "sidecar,sidecar", "both,words", "Sidecar", "always", "always")
	if g.chance(20) {
		g.add(one, "containers", g.proxy("istio-proxy"))
		entries(one, "annotations")["sidecar.istio.io/nativeSidecar"] = pick(g, "true", "false", "no")
	}
	if g.chance(10) {
		entries(one, "annotations")["fail"] = "now"
	}
}

func choosePath(g *generator, one *Case) {
	one.Path = pick(g, "/inject", "/inject/", "/inject/cluster/second", "/inject/net/west", "/inject/cluster/c/net/n/", "/inject/net/",
		"/inject/zone/a--slash--b/lonely", "/inject/:ENV:net=n:ENV:zone=:ENV:=x:ENV:y", "/inject/:ENV:cluster=a=b:ENV:ISTIO_META_NETWORK=v", "/inject/cluster/a%2Fb",
		"/inject/Level/x/zone/y", "/inject/net/%6E%65t", "/inject/cluster/a/cluster/b", "/inject/a--slash--b/c--slash--d", "/inject/stra%C3%9Fe/x", "/inject/ISTIO_META_CLUSTER_ID/k",
		"/inject/config/zap", "/inject/:ENV:", "/inject/net/a%20b", "/inject/x/y/", "/inject/cluster/%25", "/inject/a%3Ab/c")
	if g.chance(40) {
		entries(one, "labels")["topology.istio.io/network"] = pick(g, "own", "", "west")
	}
}

func scrape(g *generator, one *Case) {
	annotations := entries(one, "annotations")
	spelled := func(name string) string {
		if g.chance(75) {
			return "prometheus.io/" + name
		}
		return pick(g, "prometheus-io/", "prometheus.io-", "prometheus_io_", "Prometheus.io/", "prometheus io/", "prometheus.io.", "prometheus:io/") + name
	}
	put := func(percent int, name string, values ...string) {
		if g.chance(percent) {
			annotations[spelled(name)] = pick(g, values...)
		}
	}
	put(60, "scrape", "true", "true", "1", "t", "false", "0", "TRUE", "maybe", "")
	put(60, "port", "8080", "9090", "http", "0", "65535", "65536", "15020", "15021", "15999", "15090", "15000", "015020", "+80", "-1", "", " 80", "15001", "15004", "15006", "15008", "15053", "15002")
	put(40, "path", "/metrics", "/a b", "", "/stats/prometheus", "/\"<&>é\u2028")
	if g.chance(35) {
		annotations[pick(g, "prometheus.istio.io/scrape-targets", "prometheus.istio.io/scrape-targets", "prometheus-istio-io/scrape_targets")] = pick(g,
			"8080:/metrics", "8080,9090:/b", " 8080 : /a , ", "", ",", ":/x", "http:/m", "8080:", "8080:/a:/b", "15020:/m", "080:/z", "15090", "70000", "8080,:x", "15999", "15021", "0", "+7", "-1:/a")
	}
	if g.chance(15) {
		annotations["prometheus.istio.io/merge-metrics"] = pick(g, "true", "false", "F", "1")
	}
}

func (g *generator) port() any {
	return pick[any](g, 80, 8080, "http", "grpc", "8080", "missing", 15020, 15999, 15021, "15020", 0, "", 15090)
}

func (g *generator) handler() object {
	get := object{"port": g.port()}
	if g.chance(60) {
		get["path"] = pick(g, "/live", "/a?b=<c>&d", "", "live")
	}
	if g.chance(40) {
		get["scheme"] = pick(g, "HTTP", "HTTPS", "https")
	}
	if g.chance(20) {
		get["host"] = "other"
	}
	if g.chance(20) {
		get["httpHeaders"] = []any{object{"name": "X", "value": "1"}}
	}
	socket := object{"port": g.port()}
	if g.chance(20) {
		socket["host"] = "127.0.0.1"
	}
	grpc := object{"port": pick(g, 9090, 15020, 0)}
	if g.chance(50) {
		grpc["service"] = pick(g, "", "health")
	}
	return pick(g, object{"httpGet": get}, object{"httpGet": get}, object{"httpGet": get, "tcpSocket": socket}, object{"tcpSocket": socket}, object{"grpc": grpc},
		object{"exec": object{"command": []any{"true"}}}, object{}, object{"sleep": object{"seconds": 1}}, object{"tcpSocket": socket, "grpc": grpc})
}

func probe(g *generator, one *Case) {
	containers := containersOf(one)
	if g.chance(30) {
		// A native sidecar of the author.
		helper := g.container("helper")
		helper["restartPolicy"] = "Always"
		list, _ := spec(one)["initContainers"].([]any)
		spec(one)["initContainers"] = append(list, helper)
		containers = append(containers, helper)
	}
	for count := 1 + g.Intn(3); count > 0; count-- {
		container := pick(g, containers...)
		field := pick(g, "readinessProbe", "livenessProbe", "startupProbe", "postStart", "preStop")
		handler := g.handler()
		if field != "postStart" && field != "preStop" {
			if g.chance(40) {
				handler["timeoutSeconds"] = pick(g, 0, 1, 7)
			}
			if g.chance(30) {
				handler["periodSeconds"] = 3
			}
			container[field] = handler
			continue
		}
		lifecycle, known := container["lifecycle"].(object)
		if !known {
			lifecycle = object{}
		}
		delete(handler, "grpc")
		lifecycle[field] = handler
		container["lifecycle"] = lifecycle
	}
	if g.chance(35) {
		entries(one, "annotations")["sidecar.istio.io/rewriteAppHTTPProbers"] = pick(g, "true", "true", "false", "maybe", "1", "")
	}
	if g.chance(25) {
		entries(one, "annotations")["status.sidecar.istio.io/port"] = pick(g, "8080", "0", " 80", "15020")
	}
}

// proxy returns a container of the author with the name of a template's container.
func (g *generator) proxy(name string) object {
	container := object{"name": name}
	if g.chance(85) {
		container["image"] = pick(g, "auto", "auto", "mine:1", "")
	}
	if g.chance(40) {
		container["env"] = pick[any](g, []any{object{"name": "OWN", "value": "1"}}, []any{object{"name": "ISTIO_META_CLUSTER_ID", "value": "mine"}, object{"name": "CONFIG", "valueFrom": object{"fieldRef": object{"fieldPath": "metadata.name"}}}}, []any{})
	}
	if g.chance(25) {
		container["args"] = pick[any](g, []any{"-u"}, []any{"-u", "5"}, []any{"x"}, []any{"a", "-u", "1", "-u", "2"})
	}
	if g.chance(20) {
		container["resources"] = object{"limits": object{"cpu": pick(g, "1", "1000m", "0.5")}, "requests": object{}}
	}
	if g.chance(20) {
		container["volumeMounts"] = []any{object{"name": "certs", "mountPath": "/certs"}}
	}
	if g.chance(20) {
		container["ports"] = []any{object{"containerPort": 15090, "protocol": "TCP", "name": "own"}, object{"containerPort": 80}}
	}
	if g.chance(15) {
		container["readinessProbe"] = g.handler()
	}
	if g.chance(15) {
		container["lifecycle"] = object{"preStop": object{"exec": object{"command": []any{"sleep", "1"}}}}
	}
	return container
}

func (g *generator) add(one *Case, list string, container object) {
	all, _ := spec(one)[list].([]any)
	for _, known := range all {
		if known.(object)["name"] == container["name"] {
			return
		}
	}
	if g.chance(40) {
		all = append([]any{container}, all...)
	} else {
		all = append(all, container)
	}
	spec(one)[list] = all
}

func ownContainers(g *generator, one *Case) {
	if g.chance(75) {
		g.add(one, pick(g, "containers", "containers", "initContainers"), g.proxy("istio-proxy"))
	}
	if g.chance(35) {
		g.add(one, pick(g, "initContainers", "initContainers", "containers"), g.proxy("istio-init"))
	}
	if g.chance(15) {
		g.add(one, "initContainers", g.proxy(pick(g, "istio-validation", "enable-core-dump", "first")))
	}
	if g.chance(10) {
		g.add(one, "containers", g.proxy("log"))
	}
}

func proxyUser(g *generator, one *Case) {
	container := g.proxy("istio-proxy")
	context := object{}
	if g.chance(75) {
		context["runAsUser"] = pick(g, 0, 1000, 1337, 2000)
	}
	if g.chance(40) {
		context["runAsGroup"] = pick(g, 0, 3000)
	}
	container["securityContext"] = context
	g.add(one, pick(g, "containers", "containers", "initContainers"), container)
	if g.chance(30) {
		entries(one, "annotations")["sidecar.istio.io/interceptionMode"] = pick(g, "TPROXY", "REDIRECT", "NONE")
	}
	if g.chance(20) {
		entries(one, "annotations")["proxy.istio.io/config"] = pick(g, "interceptionMode: TPROXY", "interceptionMode: NONE", "interceptionMode: REDIRECT")
	}
	if g.chance(25) {
		init := object{"name": pick(g, "istio-init", "istio-validation"), "image": "auto"}
		if g.chance(50) {
			init["args"] = pick[any](g, []any{"x", "-u", "9"}, []any{"y"})
		}
		if g.chance(40) {
			init["securityContext"] = pick(g, object{"runAsUser": 7}, object{"privileged": false}, object{})
		}
		g.add(one, "initContainers", init)
	}
	if g.chance(25) {
		entries(one, "annotations")["inject.istio.io/templates"] = pick(g, "check", "sidecar,check", "sidecar")
	}
}

func overrides(g *generator, one *Case) {
	saved := object{}
	if g.chance(70) {
		saved["containers"] = []any{g.proxy("istio-proxy")}
		if g.chance(20) {
			saved["containers"] = []any{g.proxy("istio-proxy"), g.proxy(pick(g, "log", "istio-proxy", "other"))}
		}
	}
	if g.chance(50) {
		saved["initContainers"] = []any{g.proxy(pick(g, "istio-init", "istio-proxy", "istio-validation", "else"))}
	}
	text := encoded(saved)
	if g.chance(20) {
		text = pick(g, "", "{", "{}", "[]", "null", `{"containers":null}`, `{"containers":{}}`, `{"containers":[{"name":7}]}`, `{"CONTAINERS":[{"NAME":"istio-proxy","Image":"x"}]}`,
			`{"containers":[{"name":"istio-proxy","image":"a","image":"b"}],"more":1}`, `{"containers":[{}]}`, `"text"`, `{"containers":[null]}`, "{} ", "{}x")
	}
	entries(one, "annotations")["proxy.istio.io/overrides"] = text
	if g.chance(40) {
		earlierStatus(g, one)
	}
	if g.chance(25) {
		ownContainers(g, one)
	}
}

func earlierStatus(g *generator, one *Case) {
	listed := object{}
	for _, name := range []string{"containers", "initContainers"} {
		choices := []any{"istio-proxy", "istio-init", "web", "log", "first", "gone"}
		g.Shuffle(len(choices), func(a, b int) { choices[a], choices[b] = choices[b], choices[a] })
		listed[name] = choices[:g.Intn(3)]
		if g.chance(10) {
			listed[name] = nil
		}
	}
	listed["volumes"] = []any{"certs"}
	listed["revision"] = pick(g, "default", "old")
	text := encoded(listed)
	if g.chance(25) {
		text = pick(g, "", "{}", "{", "null", "[]", `{"containers":null,"initContainers":[]}`, `{"Containers":["istio-proxy"]}`, `{"containers":["istio-proxy"],"revision":7}`,
			`{"version":"old","containers":["istio-proxy"]}`, "text", `{"containers":["web"],"volumes":{}}`, `{"containers":[]} x`, `{"initContainers":["istio-init"],"containers":["istio-proxy"],"imagePullSecrets":null}`)
	}
	entries(one, "annotations")["sidecar.istio.io/status"] = text
	if g.chance(40) {
		g.add(one, pick(g, "containers", "initContainers"), g.proxy("istio-proxy"))
	}
	if g.chance(30) {
		g.add(one, "initContainers", g.proxy("istio-init"))
	}
	if g.chance(40) {
		entries(one, "annotations")[pick(g, "prometheus.io/port", "prometheus-io/port")] = pick(g, "15020", "15999", "15021", "8080")
		if g.chance(50) {
			entries(one, "annotations")["prometheus.io/path"] = "/stats/prometheus"
		}
	}
}

func knownProbers(g *generator, one *Case) {
	probe(g, one)
	text := pick(g, `{"/app-health/web/readyz":{"httpGet":{"path":"/old","port":1234,"scheme":"HTTP"},"timeoutSeconds":1}}`, `{"/app-health/log/livez":{"tcpSocket":{"port":"a"}}}`,
		`{"/app-health/z/livez":{"grpc":{"port":1,"service":null}}}`, "{", "{}", "", "null", `{"/app-health/web/livez":null}`, `{"/app-health/x/readyz":{"HTTPGET":{"Port":1},"more":2}}`, "[]", `{"/a":{"httpGet":{"path":"<&>"}}}`)
	proxy := object{"name": "istio-proxy", "image": "auto", "env": []any{object{"name": "ISTIO_KUBE_APP_PROBERS", "value": text}}}
	if g.chance(30) {
		proxy["env"] = []any{object{"name": "FIRST", "value": "1"}, object{"name": "ISTIO_KUBE_APP_PROBERS", "value": text}, object{"name": "LAST"}}
	}
	g.add(one, pick(g, "containers", "initContainers"), proxy)
	if g.chance(80) {
		entries(one, "annotations")["sidecar.istio.io/status"] = pick(g, `{"containers":["log"]}`, `{"containers":[]}`, "{}", `{"containers":["istio-proxy"]}`)
	}
	if g.chance(50) {
		entries(one, "annotations")["sidecar.istio.io/rewriteAppHTTPProbers"] = "true"
	}
}

func owners(g *generator, one *Case) {
	fields := metadata(one)
	hash := pick(g, "5d4f", "abc", "")
	kind := pick(g, "ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", "Job", "Job", "DaemonSet", "ReplicationController", "Rollout")
	name := pick(g, "web-"+hash, "web"+hash, "web", "web-12345678", "web-1234567", "web-12345678901", "a-b-1234567890", "-"+hash, hash, "web-123456789")
	reference := object{"apiVersion": pick(g, "apps/v1", "batch/v1", "v1", "argoproj.io/v1alpha1"), "kind": kind, "name": name, "uid": "1"}
	if g.chance(85) {
		reference["controller"] = g.chance(90)
	}
	references := []any{reference}
	if g.chance(25) {
		references = []any{object{"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": "2"}, reference}
	}
	fields["ownerReferences"] = references
	if g.chance(80) {
		fields["generateName"] = "web-" + hash + "-"
	}
	if g.chance(60) {
		delete(fields, "name")
	}
	labels := entries(one, "labels")
	if g.chance(70) {
		labels[pick(g, "pod-template-hash", "pod-template-hash", "rollouts-pod-template-hash")] = pick(g, hash, hash, "other")
	}
	if g.chance(30) {
		labels["deploymentconfig"] = pick(g, "dc", "")
	}
}

func imageType(g *generator, one *Case) {
	if g.chance(60) {
		entries(one, "annotations")["sidecar.istio.io/proxyImageType"] = pick(g, "debug", "distroless", "default", "", "custom", "a-b")
	}
	if g.chance(50) {
		entries(one, "annotations")["proxy.istio.io/config"] = pick(g, "image: {imageType: debug}", "image: {imageType: distroless}", "image: {imageType: default}", "image: {imageType: \"\"}", "image: {}", "image: null", "concurrency: 1")
	}
}

func order(g *generator, one *Case) {
	for _, name := range []string{"prepare", "istio-validation", "istio-init", "enable-core-dump", "istio-proxy", "last"} {
		if g.chance(35) {
			g.add(one, "initContainers", object{"name": name, "image": pick(g, "auto", "own:1")})
		}
	}
	if g.chance(30) {
		g.add(one, "containers", object{"name": "istio-proxy", "image": "auto"})
	}
	if g.chance(50) {
		entries(one, "annotations")["proxy.istio.io/config"] = pick(g, "holdApplicationUntilProxyStarts: true", "holdApplicationUntilProxyStarts: false", "holdApplicationUntilProxyStarts: null", "{}")
	}
	if g.chance(30) {
		entries(one, "annotations")["sidecar.istio.io/nativeSidecar"] = pick(g, "true", "false", "yes")
	}
	if g.chance(30) {
		entries(one, "annotations")["inject.istio.io/templates"] = pick(g, "check", "sidecar,check", "sidecar,extra,check")
	}
}

// checkedConfigs exercise the validation of ProxyConfig.
var checkedConfigs = []string{
	"concurrency: 2", "concurrency: -1", "concurrency: x", "statusPort: 0", "statusPort: 70000", "statusPort: 15999", "proxyAdminPort: 0", "proxyAdminPort: 1",
	"drainDuration: 0s", "drainDuration: 5s", "drainDuration: 1.5s", "drainDuration: 1ms", "drainDuration: 500us", "drainDuration: -1s", "drainDuration: 1h", "drainDuration: 5",
	"configPath: ''", "binaryPath: ''", "discoveryAddress: ''", "discoveryAddress: a", "discoveryAddress: 'a:1'", "discoveryAddress: 'a:0'", "discoveryAddress: '[::1]:15012'",
	"discoveryAddress: ':1'", "discoveryAddress: 'a:b'", "discoveryAddress: '-a:1'", "discoveryAddress: 'a..b:1'", "discoveryAddress: '1.2.3.4:70000'", "serviceCluster: ''", "serviceCluster: x", "tracingServiceName: APP_LABEL_ONLY",
	"statsdUdpAddress: a", "statsdUdpAddress: 'a:9125'", "envoyMetricsService: {address: b}", "envoyMetricsService: {address: 'b:1'}", "envoyAccessLogService: {address: 'c'}", "envoyMetricsServiceAddress: d",
	"tracing: {zipkin: {}}", "tracing: {zipkin: {address: 'z:9411'}}", "tracing: {zipkin: {address: z}}", "tracing: {lightstep: {address: 'l:1'}}", "tracing: {lightstep: {address: 'l:1', accessToken: t}}", "tracing: {lightstep: {accessToken: t}}",
	"tracing: {datadog: {}}", "tracing: {datadog: {address: '$(HOST_IP):8126'}}", "tracing: {datadog: {address: 'd:1'}}", "tracing: {tlsSettings: {mode: MUTUAL}}", "tracing: {tlsSettings: {mode: SIMPLE}}", "tracing: {tlsSettings: {mode: ISTIO_MUTUAL, caCertificates: a}}",
	"tracing: {tlsSettings: {mode: MUTUAL, clientCertificate: a, privateKey: b, caCertificates: c}}", "tracing: {tlsSettings: {mode: MUTUAL, clientCertificate: a}}", "tracing: {tlsSettings: {mode: SIMPLE, credentialName: a, caCertificates: b}}",
	"tracing: {customTags: {a: {literal: {value: b}}}}", "tracing: {customTags: {a: {literal: {}}}}", "tracing: {customTags: {a: {header: {name: ''}}}}", "tracing: {customTags: {a: {environment: {name: ''}}}}", "tracing: {customTags: {'': {literal: {value: b}}}}", "tracing: {customTags: {a: {}}}",
	"tracing: {customTags: {a: {formatter: {value: ''}}}}", "tracing: {sampling: 200}", "tracing: {maxPathTagLength: 5}", "tracing: {}",
	"controlPlaneAuthPolicy: MUTUAL_TLS", "controlPlaneAuthPolicy: INHERIT", "privateKeyProvider: {cryptomb: {pollDelay: 1ms}}", "privateKeyProvider: {cryptomb: {}}", "privateKeyProvider: {cryptomb: {pollDelay: 0s}}", "privateKeyProvider: {qat: {}}", "privateKeyProvider: {qat: {pollDelay: 2ms}}", "privateKeyProvider: {}",
	"connectionSettings: {}",
	"connectionSettings: {listenerPerConnectionBufferLimitBytes: -1, clusterPerConnectionBufferLimitBytes: -1, httpIdleTimeout: -1s, httpMaxConnectionDuration: -1s, httpDrainTimeout: -1s, httpRequestTimeout: -1s, httpRequestHeadersTimeout: -1s, httpStreamIdleTimeout: -1s, httpMaxStreamDuration: -1s, httpMaxConcurrentStreams: 0, http2InitialStreamWindowSize: 65534, http2InitialConnectionWindowSize: 1, listenerConnectionLimit: 0, globalDownstreamConnectionLimit: -5}",
	"connectionSettings: {listenerPerConnectionBufferLimitBytes: 0, clusterPerConnectionBufferLimitBytes: 0, httpIdleTimeout: 0s, httpMaxConnectionDuration: 1s, httpMaxConcurrentStreams: 1, http2InitialStreamWindowSize: 65535, http2InitialConnectionWindowSize: 65535, listenerConnectionLimit: 1, globalDownstreamConnectionLimit: 1}",
	"tracing: {tlsSettings: {mode: SIMPLE, insecureSkipVerify: true, caCertificates: a}}", "tracing: {tlsSettings: {mode: SIMPLE, insecureSkipVerify: true, subjectAltNames: [a]}}", "tracing: {tlsSettings: {mode: SIMPLE, insecureSkipVerify: true, credentialName: a}}",
	"tracing: {tlsSettings: {mode: MUTUAL, insecureSkipVerify: true, subjectAltNames: [a], clientCertificate: b, privateKey: c}}", "tracing: {tlsSettings: {mode: MUTUAL, credentialName: a, clientCertificate: b}}", "tracing: {tlsSettings: {mode: MUTUAL, credentialName: a, privateKey: b}}",
	"tracing: {tlsSettings: {mode: MUTUAL, credentialName: a}}", "tracing: {tlsSettings: {mode: SIMPLE, credentialName: 'configmap://a/b'}}", "tracing: {tlsSettings: {mode: DISABLE, clientCertificate: b}}",
	"discoveryAddress: 'a.:1'", "discoveryAddress: 'a.1:5'", "discoveryAddress: '[::1]x:1'", "discoveryAddress: '[::1:1'", "discoveryAddress: '[::1]'", "discoveryAddress: 'a:b:1'", "discoveryAddress: '[a]:1'", "discoveryAddress: 'a]:1'", "discoveryAddress: 'a:1x'",
	"discoveryAddress: 'abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-0123456789:1'", "discoveryAddress: 'abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz-012345678:1'", "interceptionMode: NONE", "interceptionMode: 1", "interceptionMode: other", "image: {imageType: debug}",
	"unknown: 1", "a: b: c", "- x", "text", "'", "{", "", "null", "{}", "~", "concurrency: 1\nconcurrency: 2", "Concurrency: 1", "concurrency: '3'", "concurrency: 1.0", "concurrency: 1.5", "concurrency: null", "status_port: 1",
	"proxyMetadata: {A: b}", "proxyMetadata: {A: 1}", "proxyMetadata: {A: yes}", "proxyMetadata: {ZONE: b}", "proxyMetadata: null", "proxyMetadata: {A: null}", "proxyMetadata: {}", "holdApplicationUntilProxyStarts: 'true'", "holdApplicationUntilProxyStarts: yes",
	"terminationDrainDuration: 5s", "terminationDrainDuration: 0s", "statNameLength: 100", "gatewayTopology: {numTrustedProxies: 2}", "sds: {enabled: true}", "extraStatTags: [a, b]", "runtimeValues: {a: b}", "proxyStatsMatcher: {inclusionPrefixes: [a]}",
	"readinessProbe: {httpGet: {path: /, port: 80}}", "caCertificatesPem: [a]", "zipkinAddress: 'z:1'", "proxyBootstrapTemplatePath: /x", "customConfigFile: x", "fileFlushInterval: 1s", "fileFlushMinSizeKb: 1", "statsCompression: true",
	"proxyHeaders: {server: {value: x}}", "proxyHeaders: {attemptCount: {disabled: true}}", "proxyHeaders: {forwardedClientCert: SANITIZE, server: null}", "proxyHeaders: {}", "proxyHeaders: null", "proxyHeaders: {requestId: {}, envoyDebugHeaders: {disabled: true}, setCurrentClientCertDetails: {subject: true}}",
	"proxyHeaders: {metadataExchangeHeaders: {mode: IN_MESH}}", "meshId: a", "availabilityZone: z", "parentShutdownDuration: 1s", "environmentVariables: {A: b}",
	"&a concurrency: 1", "x: &a {}\nproxyMetadata: *a", "{concurrency: 1}", "{\"concurrency\": 4}", "concurrency: 0x10", "concurrency: 010", "concurrency: 1e1", "concurrency: 2147483648", "serviceCluster: 5", "serviceCluster: true", "proxyAdminPort: 65536",
}

func proxyConfig(g *generator, one *Case) {
	entries(one, "annotations")["proxy.istio.io/config"] = pick(g, checkedConfigs...)
}

func securePort(g *generator, one *Case) {
	value := pick(g, "15091", "0", "", "x", "007")
	if g.chance(60) {
		entries(one, "annotations")["proxy.istio.io/config"] = fmt.Sprintf("proxyMetadata: {ENVOY_SECURE_MERGED_METRICS_PORT: %q}", value)
	} else {
		list := []any{object{"name": "ENVOY_SECURE_MERGED_METRICS_PORT", "value": value}}
		if g.chance(30) {
			list = append([]any{object{"name": "ENVOY_SECURE_MERGED_METRICS_PORT", "valueFrom": object{"fieldRef": object{"fieldPath": "metadata.name"}}}}, list...)
			list = list[:1+g.Intn(2)]
		}
		g.add(one, pick(g, "containers", "initContainers"), object{"name": pick(g, "istio-proxy", "istio-proxy", "other"), "image": "auto", "env": list})
	}
	if g.chance(35) {
		entries(one, "annotations")[pick(g, "prometheus.istio.io/secure-port", "prometheus-istio.io/secure-port", "prometheus_istio_io_secure_port", "prometheus.istio.io/secureport")] = pick(g, "1", "")
	}
	if g.chance(25) {
		scrape(g, one)
	}
}

// alike adds parts to a pod that templates also contain, or that the merge treats specially.
func alike(g *generator, one *Case) {
	fields := spec(one)
	if g.chance(50) {
		fields["volumes"] = pick[any](g, []any{object{"name": "certs", "secret": object{"secretName": "own"}}}, []any{object{"name": "data", "emptyDir": object{}}, object{"name": "certs", "emptyDir": object{}}}, []any{}, []any{object{"name": "shared", "hostPath": object{"path": "/"}}})
	}
	if g.chance(40) {
		fields["imagePullSecrets"] = pick[any](g, []any{object{"name": "shared"}}, []any{object{"name": "own"}, object{"name": "registry"}}, []any{})
	}
	if g.chance(40) {
		fields["securityContext"] = pick(g, object{"fsGroup": 5}, object{"runAsNonRoot": true}, object{}, object{"sysctls": []any{object{"name": "a", "value": "b"}}})
	}
	if g.chance(40) {
		g.add(one, "containers", object{"name": "log", "image": "log:own", "volumeMounts": []any{object{"name": "x", "mountPath": "/shared"}, object{"name": "y", "mountPath": "/y"}}})
	}
	if g.chance(30) {
		g.add(one, "initContainers", object{"name": "first", "image": "auto"})
	}
	if g.chance(40) {
		entries(one, "labels")[pick(g, "kind", "extra", "owner", "gateway")] = "own"
	}
	if g.chance(40) {
		entries(one, "annotations")[pick(g, "api", "extra", "team", "traffic", "apps")] = "own"
	}
	if g.chance(20) {
		fields[pick(g, "dnsPolicy", "nodeName", "serviceAccountName")] = "ClusterFirst"
	}
	if g.chance(15) {
		metadata(one)["managedFields"] = []any{object{"manager": "kubectl", "operation": "Update", "fieldsV1": object{"f:spec": object{}}}}
	}
	if g.chance(15) {
		metadata(one)["creationTimestamp"] = nil
	}
	if g.chance(15) {
		one.Pod["status"] = object{}
	}
	if g.chance(40) {
		entries(one, "annotations")["inject.istio.io/templates"] = pick(g, "sidecar,extra", "extra", "both", "gateway,sidecar")
	}
}

func metadata(one *Case) object { return one.Pod["metadata"].(object) }

func spec(one *Case) object { return one.Pod["spec"].(object) }

// entries returns a pod's labels or annotations.
func entries(one *Case, name string) object {
	known, found := metadata(one)[name].(object)
	if !found {
		known = object{}
		metadata(one)[name] = known
	}
	return known
}

func containersOf(one *Case) []object {
	var result []object
	for _, list := range []string{"containers", "initContainers"} {
		all, _ := spec(one)[list].([]any)
		for _, container := range all {
			result = append(result, container.(object))
		}
	}
	return result
}

// spellOnce keeps one spelling of each annotation of Prometheus. Of several spellings, Istio reads
// a random one, because Go's maps have a random order.
func spellOnce(one *Case) {
	annotations, _ := metadata(one)["annotations"].(object)
	names := make([]string, 0, len(annotations))
	for name := range annotations {
		names = append(names, name)
	}
	sort.Strings(names)
	seen := map[string]bool{}
	for _, name := range names {
		sanitized := strutil.SanitizeLabelName(name)
		if seen[sanitized] {
			delete(annotations, name)
		}
		seen[sanitized] = true
	}
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	check(err)
	return string(text)
}

func clone(value object) object {
	var result object
	check(json.Unmarshal([]byte(encoded(value)), &result))
	return result
}
