import type { z } from 'zod';
import type { condition, labelSelector, labelSelectorRequirement } from './field-types.ts';

/** The metadata fields that several layers read. Objects keep fields that are not listed here. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
}

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** metav1.LabelSelector. */
export type LabelSelector = z.output<ReturnType<typeof labelSelector>>;
export type LabelSelectorRequirement = z.output<typeof labelSelectorRequirement>;

/** metav1.Condition. `lastTransitionTime` is RFC 3339. */
export type Condition = z.output<typeof condition>;
