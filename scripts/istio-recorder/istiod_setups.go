package main

// istiodSetups are configurations for which istiod has settings in its environment. The chart also
// writes these settings to the values.
var istiodSetups = []Setup{
	{Name: "openshift", Revision: "default", NativeSidecars: "disabled", Platform: "openshift", Config: config("policy: enabled", sidecar), Values: `
global: {hub: registry.example, tag: v1, platform: openshift}
pilot: {env: {ENABLE_NATIVE_SIDECARS: "false"}}
`, Mesh: "{}", Namespaces: map[string]map[string]string{
		"shop":    {uidRange: "1000620000/10000"},
		"groups":  {uidRange: "1000630000-1000639999", groupRange: "1000640000/10000,2000/5"},
		"default": {},
		"broken":  {uidRange: "many/10000", groupRange: "1000650000/10000"},
		"half":    {uidRange: "1000660000/10000", groupRange: "1/2,x"},
		"empty":   {uidRange: "1000670000/10000", groupRange: ""},
	}},
	{Name: "openshift-native", Revision: "1-2", NativeSidecars: "enabled", Platform: "openshift", Config: config("policy: enabled\ndefaultTemplates: [sidecar, extra]", sidecar, extra), Values: `
global: {hub: registry.example, tag: v1, platform: openshift}
pilot: {env: {ENABLE_NATIVE_SIDECARS: true}}
`, Mesh: "defaultConfig: {interceptionMode: TPROXY}\n", Namespaces: map[string]map[string]string{
		"shop":    {uidRange: "1000620000/10000", groupRange: "1000620000/10000"},
		"default": {},
	}},
	{Name: "other-platform", Revision: "default", NativeSidecars: "disabled", Platform: "gcp", Config: config("policy: enabled", sidecar), Values: `
global: {hub: registry.example, tag: v1, platform: gcp}
pilot: {env: {ENABLE_NATIVE_SIDECARS: "no"}}
`, Mesh: "{}", Namespaces: map[string]map[string]string{"shop": {uidRange: "1000620000/10000"}}},
	{Name: "fips", Revision: "default", NativeSidecars: "enabled", CompliancePolicy: "fips-140-3", Config: config("policy: enabled\ndefaultTemplates: [sidecar, policy]", sidecar, policy), Values: `
global: {hub: registry.example, tag: v1}
pilot: {env: {COMPLIANCE_POLICY: fips-140-3, ENABLE_NATIVE_SIDECARS: "true"}}
`, Mesh: "{}"},
}

const (
	uidRange   = "openshift.io/sa.scc.uid-range"
	groupRange = "openshift.io/sa.scc.supplemental-groups"
)

// policy is a template that reads the compliance policy as Istio's own template does.
var policy = template{"policy", `
spec:
  {{ if .NativeSidecars }}initContainers{{ else }}containers{{ end }}:
  - name: istio-proxy
    {{- if .CompliancePolicy }}
    env: [{name: COMPLIANCE_POLICY, value: "{{ .CompliancePolicy }}"}]
    {{- end }}
`}
