/** The kinds of changes, in the order of reports. */
export const podChangeKinds = [
  'containers',
  'image',
  'resources',
  'ports',
  'capabilities and privileges',
  'volumes',
  'environment',
  'probes',
  'labels',
  'annotations',
  'other',
] as const;
export type PodChangeKind = (typeof podChangeKinds)[number];

/** One difference between two pods. */
export interface PodChange {
  readonly kind: PodChangeKind;
  /** For example `spec.containers[istio-proxy].image`. List items are named by their key. */
  readonly path: string;
  /** The value before and after; absent if there is none. */
  readonly before?: unknown;
  readonly after?: unknown;
}
