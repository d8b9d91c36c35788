// Command health judges Kubernetes objects as Argo CD and Flux do. It reads health checks and
// objects as JSON from standard input. For each health check, it writes the verdict of both tools
// on each object.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
)

type input struct {
	Checks []check `json:"checks"`
	// Objects are the objects as the API server stored them.
	Objects []json.RawMessage `json:"objects"`
}

type check struct {
	// Lua is the script of `resource.customizations.health.<group>_<kind>`.
	Lua string `json:"lua"`
	// Flux is one entry of `spec.healthCheckExprs` of a Kustomization.
	Flux kustomize.CustomHealthCheck `json:"flux"`
}

type output struct {
	Argo    string `json:"argo"`
	Message string `json:"message"`
	Flux    string `json:"flux"`
}

func main() {
	var given input
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		fail(err)
	}
	objects := []*unstructured.Unstructured{}
	for _, raw := range given.Objects {
		object := &unstructured.Unstructured{}
		// Both tools decode objects from the API server with whole numbers as int64.
		if err := object.UnmarshalJSON(raw); err != nil {
			fail(err)
		}
		objects = append(objects, object)
	}
	judged := [][]output{}
	for _, each := range given.Checks {
		judged = append(judged, judge(each, objects))
	}
	if err := json.NewEncoder(os.Stdout).Encode(judged); err != nil {
		fail(err)
	}
}

func judge(by check, objects []*unstructured.Unstructured) []output {
	evaluator, err := cel.NewStatusEvaluator(&by.Flux.HealthCheckExpressions)
	if err != nil {
		fail(err)
	}
	judged := []output{}
	for _, object := range objects {
		var each output
		each.Argo, each.Message = argo(object, by.Lua)
		if result, err := evaluator.Evaluate(context.Background(), object); err != nil {
			each.Flux = "Unknown: " + err.Error()
		} else {
			each.Flux = result.Status.String()
		}
		judged = append(judged, each)
	}
	return judged
}

// argo mirrors VM.ExecuteHealthLua of Argo CD's util/lua: only the libraries package, base and
// table, a timeout of one second, the object as `obj`, and a result table {status, message}.
func argo(object *unstructured.Unstructured, script string) (status, message string) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
	} {
		parameters := lua.P{Fn: state.NewFunction(open), NRet: 0, Protect: true}
		if err := state.CallByParam(parameters, lua.LString(name)); err != nil {
			fail(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", decode(state, object.Object))
	if err := state.DoString(script); err != nil {
		return "Unknown: " + err.Error(), ""
	}
	encoded, err := luajson.Encode(state.Get(-1))
	if err != nil {
		return "Unknown: " + err.Error(), ""
	}
	var health struct{ Status, Message string }
	if err := json.Unmarshal(encoded, &health); err != nil {
		return "Unknown: " + err.Error(), ""
	}
	switch health.Status {
	case "Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown":
		return health.Status, health.Message
	}
	return "Unknown: an invalid health status", health.Message
}

// decode converts the values of unstructured objects to Lua.
func decode(state *lua.LState, value any) lua.LValue {
	switch typed := value.(type) {
	case bool:
		return lua.LBool(typed)
	case float64:
		return lua.LNumber(typed)
	case int64:
		return lua.LNumber(typed)
	case string:
		return lua.LString(typed)
	case []any:
		list := state.CreateTable(len(typed), 0)
		for _, item := range typed {
			list.Append(decode(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(typed))
		for key, item := range typed {
			table.RawSetH(lua.LString(key), decode(state, item))
		}
		return table
	}
	return lua.LNil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
