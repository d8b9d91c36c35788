/** How serious a finding is, as in SARIF. Notes do not change the exit status. */
export type Level = 'error' | 'warning' | 'note';

export interface LintRule {
  readonly level: Level;
  /** What the rule finds, as a sentence. */
  readonly title: string;
  /** Why it matters. */
  readonly why: string;
  /** What to do. */
  readonly repair: string;
}

/** The rules of `injector lint`; `make generate` writes a page for each (docs/lint/). */
export const lintRules = {
  'invalid-yaml': {
    level: 'error',
    title: 'A file is not YAML.',
    why: 'The API server refuses the whole file.',
    repair: 'Correct the line that the message names. A frequent cause is a wrong indentation.',
  },
  'invalid-object': {
    level: 'error',
    title: 'An InjectorConfig or RevisionTag is invalid, or its configuration cannot be read.',
    why: 'The API server refuses the object, or the operator reports it as not Ready and publishes nothing.',
    repair: 'Correct the field that the message names.',
  },
  'unknown-field': {
    level: 'error',
    title: 'An InjectorConfig or RevisionTag has a field that its resource does not define.',
    why: 'The API server drops such a field silently, or refuses it, so that the setting has no effect.',
    repair: 'Correct the name or the indentation of the field, or remove it.',
  },
  'missing-reference': {
    level: 'note',
    title: 'An object refers to something that is not in the files.',
    why: 'The templates of such an InjectorConfig were not checked, because their text is not known.',
    repair:
      'Also name the file with the ConfigMap or the InjectorConfig. `kubectl get configmap NAME -n NAMESPACE -o yaml` prints a ConfigMap of a cluster.',
  },
  'template-syntax': {
    level: 'error',
    title: 'A template does not compile.',
    why: 'The operator does not publish the configuration. The revision keeps its last good one.',
    repair: 'Correct the template at the position of the finding. The functions are those of Istio and sprig.',
  },
  'unrepeatable-function': {
    level: 'error',
    title: 'A template calls a function that depends on the present time, or on chance.',
    why: 'Equal pods must get equal sidecars. With such a function, every replica would answer differently, a diff would never be empty, and a pod could not be explained later.',
    repair: 'Put the result into the values, or let the sidecar find it out when it starts.',
  },
  'template-fails': {
    level: 'error',
    title: 'A template fails for typical pods.',
    why: 'The webhook refuses pods for which a template fails. A warning says that only some of the 200 typical pods fail, a note that the template is not used by default.',
    repair: 'Let the template handle the kinds of pods that the message names, for example with `if` or `default`.',
  },
  'invalid-pod': {
    level: 'error',
    title:
      'The pods that a template makes are unusable: the API server refuses them, or a name or an image has no value.',
    why: 'The operator does not publish a configuration that makes all typical pods unusable. A warning says that only some of the eleven typical pods are, a note that the template is not used by default, or that the sidecar is large for a pod with resources of its own.',
    repair: 'Correct the field that the message names. The rules are those of Kubernetes 1.36 for new pods.',
  },
  'missing-value': {
    level: 'warning',
    title: 'A template prints `<no value>`.',
    why: 'The template reads a field that does not exist, and the pod gets this text instead.',
    repair: 'Correct the name of the field, add it to the values, or use `default`.',
  },
  'no-output': {
    level: 'warning',
    title: 'A template adds nothing to any typical pod.',
    why: 'The pods count as injected, but have no sidecar.',
    repair: 'Put the output under `spec:` or `metadata:`, and check the conditions in the template.',
  },
  'unknown-pod-field': {
    level: 'warning',
    title: 'A template writes a field that a pod does not have.',
    why: 'Such fields are dropped, as in Istio.',
    repair: 'Correct the name or the indentation of the field.',
  },
  'author-annotation': {
    level: 'warning',
    title: 'A template reads an annotation or label that could change more of a pod than a value.',
    why: 'With preset Istio, everyone who may create pods chooses images, privileges or traffic rules of the sidecar in this way. With preset Safe, a pod that uses the annotation is refused, and the finding is a note.',
    repair:
      'Use preset Safe (`spec.injection.annotationOverrides`), and add annotations to `allow` only if you trust all authors of pods.',
  },
  'privileged-container': {
    level: 'warning',
    title: 'A template adds a privileged container.',
    why: 'A privileged container can do everything on its node. Namespaces with the baseline or restricted profile refuse its pods.',
    repair: 'Remove `privileged: true`. Add only the capabilities that the container needs, or use a CNI plugin.',
  },
  'host-access': {
    level: 'warning',
    title: 'A template mounts a path of the node, or shares a namespace or port of the node.',
    why: 'It breaks the isolation between pods. Namespaces with the baseline or restricted profile refuse its pods.',
    repair: 'Use another kind of volume, and remove `hostNetwork`, `hostPID`, `hostIPC` and `hostPort`.',
  },
  'unrestricted-capabilities': {
    level: 'warning',
    title: 'A template adds a container with more capabilities than the restricted profile allows.',
    why: 'Namespaces with the restricted profile of the Pod Security Standards refuse its pods.',
    repair: 'Drop `ALL` capabilities. The restricted profile allows only the addition of `NET_BIND_SERVICE`.',
  },
  'image-without-version': {
    level: 'warning',
    title: 'A template adds a container whose image has no tag or digest, or the tag `latest`.',
    why: 'Pods of one revision then run different versions of the sidecar, and a rollback does not bring back the earlier one.',
    repair: 'Name a version, or better a digest.',
  },
  'missing-resources': {
    level: 'warning',
    title: 'A template adds a container without requests for CPU or memory.',
    why: 'The scheduler counts it as nothing, a HorizontalPodAutoscaler by utilization fails for its pods, and a ResourceQuota refuses them.',
    repair: 'Set `resources.requests.cpu` and `resources.requests.memory`.',
  },
  'endless-job': {
    level: 'warning',
    title: 'A template adds an ordinary container to pods of Jobs.',
    why: 'A pod of a Job completes only when its containers end, so a sidecar that keeps running keeps the Job from completing. For a template that is not used by default, the finding is a note.',
    repair:
      'Write a native sidecar if `.NativeSidecars` is true: an init container with `restartPolicy: Always`. Otherwise let pods of Jobs opt out, or end the sidecar with the application.',
  },
  'overlapping-selectors': {
    level: 'error',
    title: 'Two objects select the same pods.',
    why: 'A pod must not be injected twice, so only the older object gets a webhook.',
    repair: 'Choose another revision or tag name, or give one of the two its own labels (`spec.webhook.keys`).',
  },
  'selects-nothing': {
    level: 'warning',
    title: 'A selector cannot match any labels.',
    why: 'Its requirements contradict each other, so it has no effect.',
    repair: 'Remove one of the contradicting requirements.',
  },
  'match-condition': {
    level: 'error',
    title: 'A match condition is not valid CEL, or fails for typical pods.',
    why: 'The API server refuses the webhook, or every pod for which a condition fails while no other one is false. With failurePolicy Ignore such pods start without a sidecar, and the finding is a warning.',
    repair: "Test optional fields first, for example `has(object.metadata.labels) && 'x' in object.metadata.labels`.",
  },
  'ignored-setting': {
    level: 'warning',
    title: 'A setting of the configuration has no effect.',
    why: 'Like Istio, the injector ignores an invalid selector, and injects nothing under an unknown policy.',
    repair: 'Correct the setting that the message names.',
  },
} as const satisfies Readonly<Record<string, LintRule>>;

export type RuleName = keyof typeof lintRules;

/** A finding in a configuration. */
export interface LintFinding {
  readonly rule: RuleName;
  /** The level, if it is not that of the rule. */
  readonly level?: Level;
  readonly message: string;
  /** The template with the finding; absent if it concerns the whole configuration. */
  readonly template?: string;
  /** The line in the template, from 1. */
  readonly line?: number;
  /** The column in the line, from 1. */
  readonly column?: number;
  /** The path of the field; only if no template is named. */
  readonly field?: string;
}
