/** The annotations and labels that may change more than values. Preset Istio allows all of them. */
export interface AnnotationOverrides {
  readonly preset: 'Safe' | 'Istio';
  /** With preset `Safe`: names of annotations and labels; a name that ends in `*` is a prefix. */
  readonly allow: readonly string[];
}

/** Istio's own behaviour, the default for a configuration in Istio's format. */
export const istioOverrides: AnnotationOverrides = { preset: 'Istio', allow: [] };

/** Matches an entry of `allow`: the name of an annotation or label, or a prefix followed by `*`. */
export const annotationPattern = /^[A-Za-z0-9][-A-Za-z0-9_./]*[*]?$/;
