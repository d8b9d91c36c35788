/** Templates that put annotations into YAML as they are, each in another way: the run must see what comes of that, and the check must refuse it. */
export const unsafeTemplates: Readonly<Record<string, string>> = {
  'no quotes': `
spec:
  containers:
  - name: sidecar
    image: sidecar:1
    env:
    - name: TEAM
      value: {{ index .ObjectMeta.Annotations "example.com/team" | default "none" }}
`,
  'quotes by hand': `
spec:
  containers:
  - name: sidecar
    image: sidecar:1
    env:
    - name: TEAM
      value: "{{ index .ObjectMeta.Annotations "example.com/team" | default "none" }}"
`,
  'a flow map': `
spec:
  containers:
  - {name: sidecar, image: "sidecar:1", args: [{{ index .ObjectMeta.Annotations "example.com/team" | default "none" }}]}
`,
  'a label': `
metadata:
  labels:
    example.com/owner: {{ index .ObjectMeta.Labels "team" | default "none" }}
spec:
  containers:
  - name: sidecar
    image: sidecar:1
`,
  'a block': `
spec:
  containers:
  - name: sidecar
    image: sidecar:1
    env:
    - name: TEAM
      value: |
        {{ index .ObjectMeta.Annotations "example.com/team" | default "none" }}
`,
};
