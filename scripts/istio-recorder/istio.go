package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"istio.io/istio/pilot/pkg/features"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pkg/config/constants"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/mesh/meshwatcher"
	securityfeatures "istio.io/istio/pkg/features"
	"istio.io/istio/pkg/kube"
	"istio.io/istio/pkg/kube/inject"
	"istio.io/istio/pkg/kube/multicluster"
)

// Setup is a configuration of Istio's injector.
type Setup struct {
	Name           string `json:"name"`
	Revision       string `json:"revision"`
	NativeSidecars string `json:"nativeSidecars"`
	Config         string `json:"config"`
	Values         string `json:"values"`
	Mesh           string `json:"mesh"`
	// Platform and CompliancePolicy are variables of istiod.
	Platform         string `json:"platform,omitempty"`
	CompliancePolicy string `json:"compliancePolicy,omitempty"`
	// Namespaces are the annotations of each namespace.
	Namespaces map[string]map[string]string `json:"namespaces,omitempty"`
	handler    http.Handler
}

func readSetups(folder string) []Setup {
	text, err := os.ReadFile(filepath.Join(folder, "..", "setups.json"))
	check(err)
	var setups []Setup
	check(json.Unmarshal(text, &setups))
	for index := range setups {
		setup := &setups[index]
		for name, target := range map[string]*string{"config": &setup.Config, "values": &setup.Values, "mesh": &setup.Mesh} {
			content, err := os.ReadFile(filepath.Join(folder, setup.Name, name))
			check(err)
			*target = string(content)
		}
	}
	return setups
}

// load creates Istio's HTTP handler for a configuration.
func (s *Setup) load() {
	folder, err := os.MkdirTemp("", "istio-recorder")
	check(err)
	defer os.RemoveAll(folder)
	config, values := filepath.Join(folder, "config"), filepath.Join(folder, "values")
	check(os.WriteFile(config, []byte(s.Config), 0o600))
	check(os.WriteFile(values, []byte(s.Values), 0o600))
	meshConfig, err := mesh.ApplyMeshConfigDefaults(s.Mesh)
	check(err)
	watcher, err := inject.NewFileWatcher(config, values)
	check(err)
	environment := &model.Environment{Watcher: meshwatcher.NewTestWatcher(meshConfig), ConfigStore: model.NewFakeStore()}
	push := &model.PushContext{}
	push.ProxyConfigs = model.GetProxyConfigs(environment.ConfigStore, meshConfig)
	environment.SetPushContext(push)
	mux := http.NewServeMux()
	s.useVariables()
	clusters := multicluster.NewFakeController()
	_, err = inject.NewWebhook(inject.WebhookParameters{
		Watcher: watcher, Env: environment, Mux: mux, Revision: s.Revision, MultiCluster: clusters,
	})
	if err != nil {
		check(fmt.Errorf("%s: %w", s.Name, err))
	}
	if s.Namespaces != nil {
		client := kube.NewFakeClient(s.namespaces()...)
		stop := make(chan struct{})
		clusters.Add(constants.DefaultClusterName, client, stop)
		client.RunAndWait(stop)
	}
	s.handler = mux
}

func (s *Setup) namespaces() []runtime.Object {
	var result []runtime.Object
	for name, annotations := range s.Namespaces {
		result = append(result, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}})
	}
	return result
}

// useVariables sets what istiod reads from its environment.
func (s *Setup) useVariables() {
	check(os.Setenv("PLATFORM", s.Platform))
	securityfeatures.CompliancePolicy = s.CompliancePolicy
	features.EnableNativeSidecars = features.NativeSidecarModeDisabled
	if s.NativeSidecars == "enabled" {
		features.EnableNativeSidecars = features.NativeSidecarModeEnabled
	}
}

// answer sends a pod to the handler, and records the answer.
func (s *Setup) answer(one *Case) {
	defer func() {
		if cause := recover(); cause != nil {
			one.Outcome, one.Message = "panic", fmt.Sprint(cause)
		}
	}()
	s.useVariables()
	// Encode the pod with Kubernetes' types, as the API server does.
	var typed corev1.Pod
	check(json.Unmarshal([]byte(encoded(one.Pod)), &typed))
	pod, err := json.Marshal(typed)
	check(err)
	one.Pod = nil
	check(json.Unmarshal(pod, &one.Pod))
	body, err := json.Marshal(object{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"request": object{"uid": "1", "namespace": one.Namespace, "object": json.RawMessage(pod)},
	})
	check(err)
	request := httptest.NewRequest("POST", (&url.URL{Path: "/inject"}).String(), bytes.NewReader(body))
	parsed, err := url.Parse(one.Path)
	check(err)
	request.URL = parsed
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	var review struct {
		Response struct {
			Allowed bool
			Patch   []byte
			Status  struct{ Message string }
		}
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil {
		check(fmt.Errorf("%s answered %d: %s", one.Path, recorder.Code, recorder.Body))
	}
	switch {
	case !review.Response.Allowed:
		one.Outcome, one.Message = "denied", review.Response.Status.Message
	case review.Response.Patch == nil:
		one.Outcome = "skipped"
	default:
		patch, err := jsonpatch.DecodePatch(review.Response.Patch)
		check(err)
		patched, err := patch.Apply(pod)
		if err != nil {
			// The API server would refuse such an answer.
			one.Outcome, one.Message = "panic", err.Error()
			return
		}
		one.Outcome = "patched"
		check(json.Unmarshal(patched, &one.Result))
		// On OpenShift, Istio resets the proxy's user before it computes the patch. Only a pod with
		// two containers of one name shows this, and the API server refuses such a pod.
		if s.Platform != "" && repeatsName(one.Result) {
			one.Outcome, one.Message = "panic", "two containers have the same name"
		}
	}
}

func repeatsName(pod object) bool {
	seen := map[any]bool{}
	for _, list := range []string{"containers", "initContainers"} {
		all, _ := pod["spec"].(object)[list].([]any)
		for _, container := range all {
			name := container.(object)["name"]
			if seen[name] {
				return true
			}
			seen[name] = true
		}
	}
	return false
}
