import { z } from 'zod';

/** DNS-1123 label (Kubernetes' names of namespaces and Services): lower-case letters, digits and `-`. */
export const dnsLabelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
/** DNS-1123 subdomain: labels joined by dots (names of ConfigMaps and most objects). */
export const dnsSubdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** Kubernetes' qualified name, the key of a label or annotation: an optional DNS prefix with `/`, then up to 63 characters. */
export const qualifiedNamePattern =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** A label's value: empty, or up to 63 letters, digits, `-`, `_` and `.`, beginning and ending with a letter or digit. */
export const labelValuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
/** The name of a signer (certificates.k8s.io/v1 signerName): a domain with a dot, `/`, and a DNS-1123 subdomain. */
export const signerNamePattern =
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+\/[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** A key of a ConfigMap's data. */
export const configMapKeyPattern = /^[-._a-zA-Z0-9]+$/;

/** Hours, minutes and seconds, each at most once and in this order; what Go's time.ParseDuration and CEL's duration() read too. */
export const durationPattern = /^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$/;

/** A duration such as `168h` or `1h30m`, as `durationMilliseconds` reads it. */
export function duration() {
  return z.string().min(2).max(24).regex(durationPattern, 'must be a duration such as 168h or 1h30m');
}

/** A text of 1 to `maximum` characters of a pattern; `message` says what it must be. */
export function text(maximum: number, pattern: RegExp, message: string) {
  return z.string().min(1).max(maximum).regex(pattern, message);
}

/** A DNS-1123 label of at most `maximum` characters (63, as Kubernetes has it, unless told). */
export function dnsLabel(maximum = 63) {
  return text(maximum, dnsLabelPattern, 'must be a DNS-1123 label: lower-case letters, digits and -');
}

/** A label or annotation name. */
export function qualifiedName() {
  return text(317, qualifiedNamePattern, 'must be a label name such as example.com/inject or inject');
}

/** A whole number within bounds. */
export function whole(minimum: number, maximum: number) {
  return z.int().min(minimum).max(maximum);
}

/** How many there are. */
export function count(description: string) {
  return z.int().min(0).describe(description);
}

/** What is off unless somebody turns it on. */
export function flag(description: string) {
  return z.boolean().default(false).describe(description);
}

/** One of some words; `usual` when none is given. */
export function choice<const Words extends readonly string[]>(words: Words, usual: Words[number], description: string) {
  return z.enum(words).default(usual).describe(description);
}

/** An object that may be absent as a whole. */
export function optionalObject<Fields extends z.ZodRawShape>(description: string, fields: Fields) {
  return z.object(fields).exactOptional().describe(description);
}

/** A time by RFC 3339, absent until there is one. */
export function optionalTime(description: string) {
  return z.string().meta({ format: 'date-time' }).exactOptional().describe(description);
}

/** A list of at most `maximum` items; whoever applies it replaces all of it, or with type `set` owns the items that they name. */
export function list<T extends z.ZodType>(item: T, maximum: number, type: 'atomic' | 'set' = 'atomic') {
  return z.array(item).max(maximum).meta({ 'x-kubernetes-list-type': type });
}

/** A map with string keys and at most `maximum` entries; the bound keeps the cost of CEL rules and the size of objects known. */
export function boundedRecord<T extends z.ZodType>(value: T, maximum: number) {
  return z
    .record(z.string(), value)
    .refine((record) => Object.keys(record).length <= maximum, `must have at most ${maximum} entries`)
    .meta({ maxProperties: maximum });
}

/** An object whose fields are the user's own (JSON of any shape). */
export function freeForm() {
  return z.record(z.string(), z.unknown()).meta({ 'x-kubernetes-preserve-unknown-fields': true });
}

const labelValue = z.string().max(63).regex(labelValuePattern, 'must be a label value');

export const labelSelectorRequirement = z.object({
  key: qualifiedName().describe('The label that is compared.'),
  operator: z
    .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
    .describe('In and NotIn compare with values; Exists and DoesNotExist take no values.'),
  values: list(labelValue, 64).exactOptional().describe('What In and NotIn compare with.'),
});

/** metav1.LabelSelector with bounds. */
export function labelSelector() {
  return z
    .object({
      matchLabels: boundedRecord(labelValue, 32)
        .exactOptional()
        .describe('Labels that must be there with exactly these values.'),
      matchExpressions: list(labelSelectorRequirement, 32)
        .exactOptional()
        .describe('Requirements, all of which must hold.'),
    })
    .meta({ 'x-kubernetes-map-type': 'atomic' });
}

/** A key of a ConfigMap somewhere in the cluster. */
export function configMapReference() {
  return z.object({
    namespace: dnsLabel().describe('Namespace of the ConfigMap.'),
    name: text(253, dnsSubdomainPattern, 'must be the name of a ConfigMap').describe('Name of the ConfigMap.'),
    key: text(253, configMapKeyPattern, 'must be a key of a ConfigMap: letters, digits, -, _ and .').describe(
      'Key in the data of the ConfigMap.',
    ),
  });
}

export const condition = z.object({
  type: z.string().max(316).describe('What the condition is about, e.g. Ready.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  observedGeneration: z.int().min(0).exactOptional().describe('The generation that was looked at.'),
  lastTransitionTime: z.string().meta({ format: 'date-time' }).describe('When the status last changed.'),
  reason: z.string().max(1024).describe('One word for programs.'),
  message: z.string().max(32_768).describe('A sentence for people.'),
});

/** `status.conditions` of every resource: metav1.Condition, one of each type. */
export function conditionsSchema(description: string) {
  return z
    .array(condition)
    .max(32)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
    .exactOptional()
    .describe(description);
}
