import { z } from 'zod';

/** A DNS-1123 label, such as the name of a namespace: lowercase letters, digits and `-`. */
export const dnsLabelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
/** A DNS-1123 subdomain, such as the name of a ConfigMap: labels joined by dots. */
export const dnsSubdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** The key of a label or annotation: an optional DNS prefix with `/`, and up to 63 characters. */
export const qualifiedNamePattern =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** A label value: empty, or letters, digits, `-`, `_`, `.`; letters or digits at both ends. */
export const labelValuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
/** A signerName of certificates.k8s.io/v1: a domain with a dot, `/`, and a DNS-1123 subdomain. */
export const signerNamePattern =
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+\/[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** A key in the data of a ConfigMap. */
export const configMapKeyPattern = /^[-._a-zA-Z0-9]+$/;

/** A duration in h, m and s that Go's time.ParseDuration and CEL's duration() also accept. */
export const durationPattern = /^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$/;

/** Returns the schema of a duration for `durationMilliseconds`. */
export function duration() {
  return z.string().min(2).max(24).regex(durationPattern, 'must be a duration such as 168h or 1h30m');
}

/** Returns the schema of a string of 1 to `maximum` characters. @param message "must be …" */
export function text(maximum: number, pattern: RegExp, message: string) {
  return z.string().min(1).max(maximum).regex(pattern, message);
}

export function dnsLabel(maximum = 63) {
  return text(maximum, dnsLabelPattern, 'must be a DNS-1123 label: lowercase letters, digits and -');
}

export function qualifiedName() {
  return text(317, qualifiedNamePattern, 'must be a label name such as example.com/inject or inject');
}

/** Returns the schema of an integer within inclusive bounds. */
export function whole(minimum: number, maximum: number) {
  return z.int().min(minimum).max(maximum);
}

/** Returns the schema of a number of objects. */
export function count(description: string) {
  return z.int().min(0).describe(description);
}

/** Returns the schema of a boolean that defaults to false. */
export function flag(description: string) {
  return z.boolean().default(false).describe(description);
}

export function choice<const Words extends readonly string[]>(words: Words, usual: Words[number], description: string) {
  return z.enum(words).default(usual).describe(description);
}

/** Returns the schema of a field without a default. */
export function optional<Field extends z.ZodType>(field: Field, description: string) {
  return field.exactOptional().describe(description);
}

export function optionalObject<Fields extends z.ZodRawShape>(description: string, fields: Fields) {
  return optional(z.object(fields), description);
}

export function optionalTime(description: string) {
  return optional(z.string().meta({ format: 'date-time' }), description);
}

/** Returns the schema of a list. Server-side apply replaces an `atomic` list and merges a `set`. */
export function list<T extends z.ZodType>(item: T, maximum: number, type: 'atomic' | 'set' = 'atomic') {
  return z.array(item).max(maximum).meta({ 'x-kubernetes-list-type': type });
}

/** Returns the schema of a map; the bound limits the size of objects and the cost of CEL rules. */
export function boundedRecord<T extends z.ZodType>(value: T, maximum: number) {
  return z
    .record(z.string(), value)
    .refine((record) => Object.keys(record).length <= maximum, `must have at most ${maximum} entries`)
    .meta({ maxProperties: maximum });
}

/** Returns the schema of an object with arbitrary JSON fields. */
export function freeForm() {
  return z.record(z.string(), z.unknown()).meta({ 'x-kubernetes-preserve-unknown-fields': true });
}

const labelValue = z.string().max(63).regex(labelValuePattern, 'must be a label value');

export const labelSelectorRequirement = z.object({
  key: qualifiedName().describe('The label key that the requirement applies to.'),
  operator: z
    .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
    .describe(
      'The relation between the label and values. In and NotIn require values; Exists and DoesNotExist do not.',
    ),
  values: optional(list(labelValue, 64), 'The label values for In and NotIn.'),
});

/** Returns the schema of a metav1.LabelSelector with bounds. */
export function labelSelector() {
  return z
    .object({
      matchLabels: optional(
        boundedRecord(labelValue, 32),
        'Labels that the object must have, with exactly these values.',
      ),
      matchExpressions: optional(
        list(labelSelectorRequirement, 32),
        'Requirements that the labels of the object must all meet.',
      ),
    })
    .meta({ 'x-kubernetes-map-type': 'atomic' });
}

/** Returns the schema of a reference to a key of a ConfigMap in any namespace. */
export function configMapReference() {
  return z.object({
    namespace: dnsLabel().describe('The namespace of the ConfigMap.'),
    name: text(253, dnsSubdomainPattern, 'must be the name of a ConfigMap').describe('The name of the ConfigMap.'),
    key: text(253, configMapKeyPattern, 'must be a key of a ConfigMap: letters, digits, -, _ and .').describe(
      'The key in the data of the ConfigMap.',
    ),
  });
}

export const condition = z.object({
  type: z.string().max(316).describe('The type of the condition, for example Ready.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('The status of the condition: True, False or Unknown.'),
  observedGeneration: optional(z.int().min(0), 'The metadata.generation that the condition describes.'),
  lastTransitionTime: z.string().meta({ format: 'date-time' }).describe('The time at which the status last changed.'),
  reason: z.string().max(1024).describe('The reason for the status, as one CamelCase word.'),
  message: z.string().max(32_768).describe('A human-readable message with details.'),
});

/** Returns the schema of `status.conditions`: a list of metav1.Condition, one per type. */
export function conditionsSchema(description: string) {
  const keyed = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] };
  return optional(z.array(condition).max(32).meta(keyed), description);
}
