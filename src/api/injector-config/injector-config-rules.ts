import { annotationPattern } from './annotation-overrides.ts';
import { durationMilliseconds } from '../duration.ts';
import type { Mistake } from '../mistake.ts';
import { ownSecretName } from '../names.ts';
import { matchConditionNames } from './match-condition-names.ts';
import { revisionOf, type InjectorConfig, type InjectorConfigSpec } from './injector-config.ts';

/**
 * A rule between fields, in two forms: CEL for the API server, and TypeScript for files and for
 * objects stored before the rule existed. Tests on a real API server check that both forms agree.
 */
export interface ValidationRule<T> {
  /** The path of the field that the message is about, from the root of the object. */
  readonly field: string;
  /** A CEL expression over `self` that is true for a valid object. */
  readonly rule: string;
  /** The requirement, and what to do. */
  readonly message: string;
  readonly holds: (value: T) => boolean;
}

const minute = 60_000;
const generatedNames: readonly string[] = Object.values(matchConditionNames);

/** The names of our objects without their prefix: `tag-T`, `probe-N`, `N-serving`, `N-<hash8>`. */
const reservedName = /^(tag|probe)-|-serving$|-[0-9a-f]{8}$/;

/** The rules about the name; `self` is the whole object. */
export const nameRules: readonly ValidationRule<InjectorConfig>[] = [
  {
    field: 'metadata.name',
    rule: "self.metadata.name.size() <= 46 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
    message:
      'metadata.name must be a DNS-1123 label of at most 46 characters, because the names of other objects contain it; choose another name',
    holds: ({ metadata: { name } }) => name.length <= 46 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name),
  },
  {
    field: 'metadata.name',
    rule: `!self.metadata.name.matches('${reservedName.source}')`,
    message:
      'metadata.name must not begin with tag- or probe-, or end with -serving or a hyphen and 8 hex digits, because the operator uses such names for other objects; choose another name',
    holds: ({ metadata: { name } }) => !reservedName.test(name),
  },
  {
    field: 'spec.revision',
    rule: "(self.metadata.name == 'default') == ((has(self.spec.revision) ? self.spec.revision : self.metadata.name) == 'default')",
    message: 'spec.revision must be "default" if and only if metadata.name is "default"; change one of them',
    holds: (config) => (config.metadata.name === 'default') === (revisionOf(config) === 'default'),
  },
];

/** The rules between fields of the spec; `self` is the spec. */
export const specRules: readonly ValidationRule<InjectorConfigSpec>[] = [
  {
    field: 'spec.injection',
    rule: '[has(self.injection.templates), has(self.injection.template), has(self.injection.configFrom)].filter(given, given).size() == 1',
    message: 'spec.injection must set exactly one of templates, template and configFrom; set one and remove the others',
    holds: ({ injection: { templates, template, configFrom } }) =>
      [templates, template, configFrom].filter((each) => each !== undefined).length === 1,
  },
  {
    field: 'spec.injection.configFrom',
    rule: '!has(self.injection.configFrom) || (!has(self.injection.policy) && !has(self.injection.defaultTemplates) && [size(self.injection.aliases), size(self.injection.injectedAnnotations), size(self.injection.alwaysInjectSelector), size(self.injection.neverInjectSelector)].all(entries, entries == 0))',
    message:
      'spec.injection.configFrom cannot be combined with policy, defaultTemplates, aliases, injectedAnnotations, alwaysInjectSelector or neverInjectSelector, because its ConfigMap contains them; remove these fields, or replace configFrom by templates',
    holds: ({ injection }) => injection.configFrom === undefined || !hasInlineConfiguration(injection),
  },
  {
    field: 'spec.injection.meshConfigFrom',
    rule: '!(has(self.injection.meshConfig) && has(self.injection.meshConfigFrom))',
    message: 'spec.injection.meshConfigFrom cannot be combined with meshConfig; remove one of them',
    holds: ({ injection: { meshConfig, meshConfigFrom } }) => meshConfig === undefined || meshConfigFrom === undefined,
  },
  {
    field: 'spec.injection.templates',
    rule: '!has(self.injection.templates) || size(self.injection.templates) > 0',
    message: 'spec.injection.templates must contain at least one template; add one',
    holds: ({ injection: { templates } }) => templates === undefined || Object.keys(templates).length > 0,
  },
  {
    field: 'spec.injection.template',
    rule: '!has(self.injection.template) || (!has(self.injection.defaultTemplates) && size(self.injection.aliases) == 0)',
    message:
      'spec.injection.template cannot be combined with defaultTemplates or aliases, which choose among several templates; remove them, or use templates instead of template',
    holds: ({ injection: { template, defaultTemplates, aliases } }) =>
      template === undefined || (defaultTemplates === undefined && Object.keys(aliases).length === 0),
  },
  {
    field: 'spec.injection.valuesFrom',
    rule: '!(has(self.injection.values) && has(self.injection.valuesFrom))',
    message: 'spec.injection.valuesFrom cannot be combined with values; remove one of them',
    holds: ({ injection: { values, valuesFrom } }) => values === undefined || valuesFrom === undefined,
  },
  {
    field: 'spec.injection.annotationOverrides.allow',
    rule: "!has(self.injection.annotationOverrides) || (size(self.injection.annotationOverrides.allow) == 0 && !has(self.injection.annotationOverrides.sameName) && !has(self.injection.annotationOverrides.sameNameFields)) || (has(self.injection.annotationOverrides.preset) ? self.injection.annotationOverrides.preset == 'Safe' : !has(self.injection.configFrom))",
    message:
      'spec.injection.annotationOverrides.allow requires preset Safe, as do sameName and sameNameFields, because preset Istio (the default with configFrom) already allows everything; set preset to Safe or remove these fields',
    holds: ({ injection: { annotationOverrides, configFrom } }) =>
      ((annotationOverrides?.allow ?? []).length === 0 &&
        annotationOverrides?.sameName === undefined &&
        annotationOverrides?.sameNameFields === undefined) ||
      (annotationOverrides?.preset ?? (configFrom === undefined ? 'Safe' : 'Istio')) === 'Safe',
  },
  {
    field: 'spec.injection.annotationOverrides.allow',
    rule: "!has(self.injection.annotationOverrides) || self.injection.annotationOverrides.allow.all(name, name.matches('^[A-Za-z0-9][-A-Za-z0-9_./]*[*]?$'))",
    message:
      'spec.injection.annotationOverrides.allow must contain names of annotations or labels such as example.com/image, or prefixes that end with * such as example.com/*; correct the list',
    holds: ({ injection: { annotationOverrides } }) =>
      (annotationOverrides?.allow ?? []).every((name) => annotationPattern.test(name)),
  },
  {
    field: 'spec.injection.delimiters',
    rule: "self.injection.delimiters[0] != self.injection.delimiters[1] && self.injection.delimiters.all(d, !d.matches('[\\\\s\"`]'))",
    message:
      'spec.injection.delimiters must be two different strings without whitespace and quotes, such as {{ and }} or [[ and ]]; correct the list',
    holds: ({ injection: { delimiters } }) =>
      delimiters[0] !== delimiters[1] && delimiters.every((text) => !/[\s"`]/.test(text)),
  },
  {
    field: 'spec.webhook.selection',
    rule: "self.webhook.selection == 'Custom' || (!has(self.webhook.namespaceSelector) && !has(self.webhook.objectSelector))",
    message:
      'spec.webhook.selection must be Custom when namespaceSelector or objectSelector is set; set it to Custom or remove the selectors',
    holds: ({ webhook }) =>
      webhook.selection === 'Custom' ||
      (webhook.namespaceSelector === undefined && webhook.objectSelector === undefined),
  },
  {
    field: 'spec.webhook.selection',
    rule: "self.webhook.selection != 'Custom' || has(self.webhook.namespaceSelector) || has(self.webhook.objectSelector)",
    message:
      'spec.webhook.selection Custom requires namespaceSelector or objectSelector, because otherwise the webhook would select every pod; set one of them',
    holds: ({ webhook }) =>
      webhook.selection !== 'Custom' || webhook.namespaceSelector !== undefined || webhook.objectSelector !== undefined,
  },
  {
    field: 'spec.webhook.url',
    rule: '!has(self.webhook.url) || isURL(self.webhook.url)',
    message: 'spec.webhook.url must be a URL of the form https://HOST[:PORT][/PATH]; correct it',
    holds: ({ webhook: { url } }) => url === undefined || URL.canParse(url),
  },
  {
    field: 'spec.webhook.matchConditions',
    rule: `self.webhook.matchConditions.all(c, !(c.name in [${generatedNames.map((name) => `'${name}'`).join(', ')}]))`,
    message: `spec.webhook.matchConditions must not use the names ${generatedNames.join(', ')}, because every webhook already has conditions with these names; rename the condition`,
    holds: ({ webhook }) => webhook.matchConditions.every(({ name }) => !generatedNames.includes(name)),
  },
  {
    field: 'spec.webhook.keys',
    rule: 'self.webhook.keys.injection != self.webhook.keys.revision && self.webhook.keys.injection != self.webhook.keys.inject && self.webhook.keys.revision != self.webhook.keys.inject && !(self.webhook.keys.status in [self.webhook.keys.injection, self.webhook.keys.revision, self.webhook.keys.inject])',
    message: 'spec.webhook.keys must be four different names; change the repeated name',
    holds: ({ webhook: { keys } }) => new Set([keys.injection, keys.revision, keys.inject, keys.status]).size === 4,
  },
  {
    field: 'spec.certificate.secretRef',
    rule: "(self.certificate.provider == 'Secret') == has(self.certificate.secretRef)",
    message: 'spec.certificate.secretRef must be set if and only if provider is Secret; change provider or secretRef',
    holds: ({ certificate }) => (certificate.provider === 'Secret') === (certificate.secretRef !== undefined),
  },
  {
    field: 'spec.certificate.secretRef.name',
    rule: `!has(self.certificate.secretRef) || !self.certificate.secretRef.name.matches('${ownSecretName.source}')`,
    message:
      'spec.certificate.secretRef.name must not begin with sidecar-injector-, injector-validator-, injector-request- or injector-certificate-, because the operator writes Secrets with such names; give your Secret another name',
    holds: ({ certificate: { secretRef } }) => secretRef === undefined || !ownSecretName.test(secretRef.name),
  },
  {
    field: 'spec.certificate.signerName',
    rule: "(self.certificate.provider == 'CertificateSigningRequest') == has(self.certificate.signerName)",
    message:
      'spec.certificate.signerName must be set if and only if provider is CertificateSigningRequest; change provider or signerName',
    holds: ({ certificate: { provider, signerName } }) =>
      (provider === 'CertificateSigningRequest') === (signerName !== undefined),
  },
  {
    field: 'spec.certificate.signerName',
    rule: "!has(self.certificate.signerName) || !self.certificate.signerName.startsWith('kubernetes.io/')",
    message:
      'spec.certificate.signerName must not begin with kubernetes.io/, because the signers built into Kubernetes issue certificates for clients and kubelets only; name a signer that issues serving certificates',
    holds: ({ certificate: { signerName } }) => signerName?.startsWith('kubernetes.io/') !== true,
  },
  {
    field: 'spec.certificate.expirationSeconds',
    rule: '!has(self.certificate.expirationSeconds) || has(self.certificate.signerName)',
    message: 'spec.certificate.expirationSeconds is allowed only with provider CertificateSigningRequest; remove it',
    holds: ({ certificate: { expirationSeconds, signerName } }) =>
      expirationSeconds === undefined || signerName !== undefined,
  },
  {
    field: 'spec.certificate.issuerRef',
    rule: "[has(self.certificate.issuerRef), has(self.certificate.certificateRef)].filter(given, given).size() == (self.certificate.provider == 'CertManager' ? 1 : 0)",
    message:
      'spec.certificate.issuerRef and certificateRef: provider CertManager requires exactly one of them, and other providers do not allow them; set one or remove the others',
    holds: ({ certificate: { provider, issuerRef, certificateRef } }) =>
      [issuerRef, certificateRef].filter((each) => each !== undefined).length === (provider === 'CertManager' ? 1 : 0),
  },
  {
    field: 'spec.certificate.caBundle',
    rule: "!(has(self.certificate.caBundle) && has(self.certificate.caBundleFrom)) && (self.certificate.provider == 'CertManager' || (self.certificate.provider == 'CertificateSigningRequest') == (has(self.certificate.caBundle) || has(self.certificate.caBundleFrom)))",
    message:
      'spec.certificate.caBundle and caBundleFrom: provider CertificateSigningRequest requires exactly one of them, CertManager allows at most one, and other providers allow none; add or remove a field',
    holds: ({ certificate: { provider, caBundle, caBundleFrom } }) => {
      const count = [caBundle, caBundleFrom].filter((each) => each !== undefined).length;
      if (provider === 'CertManager') return count <= 1;
      return count === (provider === 'CertificateSigningRequest' ? 1 : 0);
    },
  },
  {
    field: 'spec.certificate.leafDuration',
    rule: "!has(self.certificate.issuerRef) || duration(self.certificate.leafDuration) >= duration('1h')",
    message:
      'spec.certificate.leafDuration must be at least 1h with issuerRef, because cert-manager issues no shorter certificates; increase it',
    holds: ({ certificate: { issuerRef, leafDuration } }) =>
      issuerRef === undefined || durationMilliseconds(leafDuration) >= 60 * minute,
  },
  {
    field: 'spec.certificate.leafDuration',
    rule: "duration(self.certificate.leafDuration) >= duration('1m')",
    message: 'spec.certificate.leafDuration must be at least 1m; increase it',
    holds: ({ certificate }) => durationMilliseconds(certificate.leafDuration) >= minute,
  },
  {
    // A rule instead of schema bounds, because the API server rounds such bounds in its message.
    field: 'spec.certificate.renewalFraction',
    rule: 'self.certificate.renewalFraction >= 0.1 && self.certificate.renewalFraction <= 0.9',
    message: 'spec.certificate.renewalFraction must be between 0.1 and 0.9, for example 0.667; correct it',
    holds: ({ certificate: { renewalFraction } }) => renewalFraction >= 0.1 && renewalFraction <= 0.9,
  },
  {
    field: 'spec.certificate.caDuration',
    rule: 'duration(self.certificate.leafDuration) < duration(self.certificate.caDuration)',
    message:
      'spec.certificate.caDuration must be longer than leafDuration, because an authority must outlive the certificates that it signs; increase caDuration or reduce leafDuration',
    holds: ({ certificate }) =>
      durationMilliseconds(certificate.leafDuration) < durationMilliseconds(certificate.caDuration),
  },
  {
    field: 'spec.certificate.caDuration',
    rule: "duration(self.certificate.caDuration) <= duration('876000h')",
    message: 'spec.certificate.caDuration must be at most 876000h (100 years); reduce it',
    holds: ({ certificate }) => durationMilliseconds(certificate.caDuration) <= 876_000 * 60 * minute,
  },
  {
    field: 'spec.certificate.caDuration',
    rule: 'double(duration(self.certificate.caDuration).getSeconds()) * (1.0 - self.certificate.renewalFraction) > double(duration(self.certificate.confirmationPeriod).getSeconds())',
    message:
      'spec.certificate.caDuration must leave more than confirmationPeriod between the renewal at renewalFraction and the expiry, because API servers need this time to load the new authority; increase caDuration, or reduce renewalFraction or confirmationPeriod',
    holds: ({ certificate }) =>
      durationMilliseconds(certificate.caDuration) * (1 - certificate.renewalFraction) >
      durationMilliseconds(certificate.confirmationPeriod),
  },
  {
    field: 'spec.certificate.confirmationPeriod',
    rule: "duration(self.certificate.confirmationPeriod) >= duration('10s')",
    message:
      'spec.certificate.confirmationPeriod must be at least 10s, because API servers load a new caBundle with a delay; increase it',
    holds: ({ certificate }) => durationMilliseconds(certificate.confirmationPeriod) >= 10_000,
  },
];

/** A rule about changes, where `self` and `oldSelf` are the spec. It does not apply to files. */
export const revisionIsImmutable = {
  field: 'spec.revision',
  rule: 'has(self.revision) == has(oldSelf.revision) && (!has(self.revision) || self.revision == oldSelf.revision)',
  message:
    'spec.revision cannot be set, changed or removed after creation; create another InjectorConfig for the other revision and move the namespaces to it',
} as const;

/** The class cannot change: no operator would delete the old class's objects and finalizers. */
export function operatorClassIsImmutable(kind: string) {
  return {
    field: 'spec.operatorClass',
    rule: "(has(self.operatorClass) ? self.operatorClass : 'default') == (has(oldSelf.operatorClass) ? oldSelf.operatorClass : 'default')",
    message: `spec.operatorClass cannot be set, changed or removed after creation; delete this ${kind} and create it again with the other class`,
  };
}

export function brokenRules<T>(rules: readonly ValidationRule<T>[], value: T): Mistake[] {
  return rules.filter((rule) => !rule.holds(value)).map(({ field, message }) => ({ field, message }));
}

/** Reports whether the spec sets a field that configFrom replaces. Empty fields do not count. */
function hasInlineConfiguration(injection: InjectorConfigSpec['injection']): boolean {
  const { aliases, injectedAnnotations, alwaysInjectSelector, neverInjectSelector } = injection;
  const collections = [aliases, injectedAnnotations, alwaysInjectSelector, neverInjectSelector];
  if (injection.policy !== undefined || injection.defaultTemplates !== undefined) return true;
  return collections.some((each) => Object.keys(each).length > 0);
}
