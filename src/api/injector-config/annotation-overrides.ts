/** What authors of pods may change in the sidecar beyond values. Preset Istio allows everything. */
export interface AnnotationOverrides {
  readonly preset: 'Safe' | 'Istio';
  /** With preset `Safe`: names of annotations and labels; a name that ends in `*` is a prefix. */
  readonly allow: readonly string[];
  /** What happens to a pod that changes elements of the templates by its own of the same names. */
  readonly sameName?: 'Refuse' | 'Warn';
  /** The fields of the templates' containers that a pod's container of the same name may change. */
  readonly sameNameFields?: readonly string[];
}

/** The fields of a container in Kubernetes 1.36, except its name. */
export const containerFields =
  'args command env envFrom image imagePullPolicy lifecycle livenessProbe ports readinessProbe resizePolicy resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir'.split(
    ' ',
  );

/** Istio's own behaviour, the default for a configuration in Istio's format. */
export const istioOverrides: AnnotationOverrides = { preset: 'Istio', allow: [] };

/** Matches an entry of `allow`: the name of an annotation or label, or a prefix followed by `*`. */
export const annotationPattern = /^[A-Za-z0-9][-A-Za-z0-9_./]*[*]?$/;
