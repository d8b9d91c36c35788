import { annotationPattern } from './annotation-overrides.ts';
import { durationMilliseconds } from '../duration.ts';
import type { Mistake } from '../mistake.ts';
import { ownSecretName } from '../names.ts';
import { matchConditionNames } from './match-condition-names.ts';
import { revisionOf, type InjectorConfig, type InjectorConfigSpec } from './injector-config.ts';

/**
 * A rule between fields, said twice: in CEL for the API server and in TypeScript for files and for objects that were stored before the rule.
 * The tests on a real API server hold the two together.
 */
export interface ValidationRule<T> {
  /** The field the message belongs to, from the root of the object. */
  readonly field: string;
  /** CEL over `self`; true when all is well. */
  readonly rule: string;
  /** What must hold and what to do. */
  readonly message: string;
  readonly holds: (value: T) => boolean;
}

const minute = 60_000;
const generatedNames: readonly string[] = Object.values(matchConditionNames);

/** Matches the names that our own objects would take: `sidecar-injector-tag-T`, `…-probe-N`, `…-N-serving`, `…-N-<hash8>`. */
const reservedName = /^(tag|probe)-|-serving$|-[0-9a-f]{8}$/;

/** Rules about the name, over the whole object. */
export const nameRules: readonly ValidationRule<InjectorConfig>[] = [
  {
    field: 'metadata.name',
    rule: "self.metadata.name.size() <= 46 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
    message: 'metadata.name must be a DNS-1123 label of at most 46 characters: objects are named after it',
    holds: ({ metadata: { name } }) => name.length <= 46 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name),
  },
  {
    field: 'metadata.name',
    rule: `!self.metadata.name.matches('${reservedName.source}')`,
    message:
      'metadata.name must not begin with tag- or probe- nor end in -serving or - and 8 hex digits: objects with such names belong to other things; choose another name',
    holds: ({ metadata: { name } }) => !reservedName.test(name),
  },
  {
    field: 'spec.revision',
    rule: "(self.metadata.name == 'default') == ((has(self.spec.revision) ? self.spec.revision : self.metadata.name) == 'default')",
    message: 'spec.revision may be "default" exactly when metadata.name is: change the one or the other',
    holds: (config) => (config.metadata.name === 'default') === (revisionOf(config) === 'default'),
  },
];

/** Rules between the fields of the spec, over the spec. */
export const specRules: readonly ValidationRule<InjectorConfigSpec>[] = [
  {
    field: 'spec.injection',
    rule: '[has(self.injection.templates), has(self.injection.template), has(self.injection.configFrom)].filter(given, given).size() == 1',
    message: 'spec.injection needs exactly one of templates, template and configFrom: give one of them and not two',
    holds: ({ injection: { templates, template, configFrom } }) =>
      [templates, template, configFrom].filter((given) => given !== undefined).length === 1,
  },
  {
    field: 'spec.injection.configFrom',
    rule: '!has(self.injection.configFrom) || (!has(self.injection.policy) && !has(self.injection.defaultTemplates) && [size(self.injection.aliases), size(self.injection.injectedAnnotations), size(self.injection.alwaysInjectSelector), size(self.injection.neverInjectSelector)].all(entries, entries == 0))',
    message:
      'spec.injection.configFrom excludes policy, defaultTemplates, aliases, injectedAnnotations, alwaysInjectSelector and neverInjectSelector, which its ConfigMap holds: remove them here or write the configuration here',
    holds: ({ injection }) => injection.configFrom === undefined || !hasInlineConfiguration(injection),
  },
  {
    field: 'spec.injection.meshConfigFrom',
    rule: '!(has(self.injection.meshConfig) && has(self.injection.meshConfigFrom))',
    message: 'spec.injection.meshConfigFrom excludes meshConfig: remove one of them',
    holds: ({ injection: { meshConfig, meshConfigFrom } }) => meshConfig === undefined || meshConfigFrom === undefined,
  },
  {
    field: 'spec.injection.templates',
    rule: '!has(self.injection.templates) || size(self.injection.templates) > 0',
    message: 'spec.injection.templates must hold at least one template',
    holds: ({ injection: { templates } }) => templates === undefined || Object.keys(templates).length > 0,
  },
  {
    field: 'spec.injection.template',
    rule: '!has(self.injection.template) || (!has(self.injection.defaultTemplates) && size(self.injection.aliases) == 0)',
    message:
      'spec.injection.template excludes defaultTemplates and aliases, which choose among templates: move it to templates or remove them',
    holds: ({ injection: { template, defaultTemplates, aliases } }) =>
      template === undefined || (defaultTemplates === undefined && Object.keys(aliases).length === 0),
  },
  {
    field: 'spec.injection.valuesFrom',
    rule: '!(has(self.injection.values) && has(self.injection.valuesFrom))',
    message: 'spec.injection.valuesFrom excludes values: remove one of them',
    holds: ({ injection: { values, valuesFrom } }) => values === undefined || valuesFrom === undefined,
  },
  {
    field: 'spec.injection.annotationOverrides.allow',
    rule: "!has(self.injection.annotationOverrides) || size(self.injection.annotationOverrides.allow) == 0 || (has(self.injection.annotationOverrides.preset) ? self.injection.annotationOverrides.preset == 'Safe' : !has(self.injection.configFrom))",
    message:
      'spec.injection.annotationOverrides.allow needs preset Safe, under preset Istio (with configFrom the default) everything is allowed: set preset Safe or remove allow',
    holds: ({ injection: { annotationOverrides, configFrom } }) =>
      (annotationOverrides?.allow ?? []).length === 0 ||
      (annotationOverrides?.preset ?? (configFrom === undefined ? 'Safe' : 'Istio')) === 'Safe',
  },
  {
    field: 'spec.injection.annotationOverrides.allow',
    rule: "!has(self.injection.annotationOverrides) || self.injection.annotationOverrides.allow.all(name, name.matches('^[A-Za-z0-9][-A-Za-z0-9_./]*[*]?$'))",
    message:
      'spec.injection.annotationOverrides.allow must hold names of annotations or labels such as example.com/image, or their beginning and * such as example.com/*',
    holds: ({ injection: { annotationOverrides } }) =>
      (annotationOverrides?.allow ?? []).every((name) => annotationPattern.test(name)),
  },
  {
    field: 'spec.injection.delimiters',
    rule: "self.injection.delimiters[0] != self.injection.delimiters[1] && self.injection.delimiters.all(d, !d.matches('[\\\\s\"`]'))",
    message:
      'spec.injection.delimiters must be two different texts without spaces and quotes, such as {{ and }} or [[ and ]]',
    holds: ({ injection: { delimiters } }) =>
      delimiters[0] !== delimiters[1] && delimiters.every((text) => !/[\s"`]/.test(text)),
  },
  {
    field: 'spec.webhook.selection',
    rule: "self.webhook.selection == 'Custom' || (!has(self.webhook.namespaceSelector) && !has(self.webhook.objectSelector))",
    message:
      'spec.webhook.selection must be Custom where namespaceSelector or objectSelector is given: set it or remove them',
    holds: ({ webhook }) =>
      webhook.selection === 'Custom' ||
      (webhook.namespaceSelector === undefined && webhook.objectSelector === undefined),
  },
  {
    field: 'spec.webhook.selection',
    rule: "self.webhook.selection != 'Custom' || has(self.webhook.namespaceSelector) || has(self.webhook.objectSelector)",
    message:
      'spec.webhook.selection Custom needs namespaceSelector or objectSelector: without them every pod is selected',
    holds: ({ webhook }) =>
      webhook.selection !== 'Custom' || webhook.namespaceSelector !== undefined || webhook.objectSelector !== undefined,
  },
  {
    field: 'spec.webhook.url',
    rule: '!has(self.webhook.url) || isURL(self.webhook.url)',
    message: 'spec.webhook.url must be a URL: https://HOST[:PORT][/PATH]',
    holds: ({ webhook: { url } }) => url === undefined || URL.canParse(url),
  },
  {
    field: 'spec.webhook.matchConditions',
    rule: `self.webhook.matchConditions.all(c, !(c.name in [${generatedNames.map((name) => `'${name}'`).join(', ')}]))`,
    message: `spec.webhook.matchConditions must not use the names ${generatedNames.join(', ')}, which are always there: rename the condition`,
    holds: ({ webhook }) => webhook.matchConditions.every(({ name }) => !generatedNames.includes(name)),
  },
  {
    field: 'spec.webhook.keys',
    rule: 'self.webhook.keys.injection != self.webhook.keys.revision && self.webhook.keys.injection != self.webhook.keys.inject && self.webhook.keys.revision != self.webhook.keys.inject && !(self.webhook.keys.status in [self.webhook.keys.injection, self.webhook.keys.revision, self.webhook.keys.inject])',
    message: 'spec.webhook.keys must be four different names',
    holds: ({ webhook: { keys } }) => new Set([keys.injection, keys.revision, keys.inject, keys.status]).size === 4,
  },
  {
    field: 'spec.certificate.secretRef',
    rule: "(self.certificate.provider == 'Secret') == has(self.certificate.secretRef)",
    message: 'spec.certificate.secretRef belongs to provider Secret: give both or neither',
    holds: ({ certificate }) => (certificate.provider === 'Secret') === (certificate.secretRef !== undefined),
  },
  {
    field: 'spec.certificate.secretRef.name',
    rule: `!has(self.certificate.secretRef) || !self.certificate.secretRef.name.matches('${ownSecretName.source}')`,
    message:
      'spec.certificate.secretRef.name must not begin with sidecar-injector-, injector-validator-, injector-request- or injector-certificate-: Secrets of such names are written by the operator; give yours another name',
    holds: ({ certificate: { secretRef } }) => secretRef === undefined || !ownSecretName.test(secretRef.name),
  },
  {
    field: 'spec.certificate.signerName',
    rule: "(self.certificate.provider == 'CertificateSigningRequest') == has(self.certificate.signerName)",
    message: 'spec.certificate.signerName belongs to provider CertificateSigningRequest: give both or neither',
    holds: ({ certificate: { provider, signerName } }) =>
      (provider === 'CertificateSigningRequest') === (signerName !== undefined),
  },
  {
    field: 'spec.certificate.signerName',
    rule: "!has(self.certificate.signerName) || !self.certificate.signerName.startsWith('kubernetes.io/')",
    message:
      'spec.certificate.signerName must not begin with kubernetes.io/: the signers of Kubernetes itself issue for clients and kubelets only; name a signer that issues serving certificates',
    holds: ({ certificate: { signerName } }) => signerName?.startsWith('kubernetes.io/') !== true,
  },
  {
    field: 'spec.certificate.expirationSeconds',
    rule: '!has(self.certificate.expirationSeconds) || has(self.certificate.signerName)',
    message: 'spec.certificate.expirationSeconds belongs to provider CertificateSigningRequest: remove it',
    holds: ({ certificate: { expirationSeconds, signerName } }) =>
      expirationSeconds === undefined || signerName !== undefined,
  },
  {
    field: 'spec.certificate.issuerRef',
    rule: "[has(self.certificate.issuerRef), has(self.certificate.certificateRef)].filter(given, given).size() == (self.certificate.provider == 'CertManager' ? 1 : 0)",
    message:
      'spec.certificate.issuerRef and certificateRef belong to provider CertManager, which needs exactly one of them: give one of the two, or none with another provider',
    holds: ({ certificate: { provider, issuerRef, certificateRef } }) =>
      [issuerRef, certificateRef].filter((given) => given !== undefined).length ===
      (provider === 'CertManager' ? 1 : 0),
  },
  {
    field: 'spec.certificate.caBundle',
    rule: "!(has(self.certificate.caBundle) && has(self.certificate.caBundleFrom)) && (self.certificate.provider == 'CertManager' || (self.certificate.provider == 'CertificateSigningRequest') == (has(self.certificate.caBundle) || has(self.certificate.caBundleFrom)))",
    message:
      'spec.certificate.caBundle or caBundleFrom, exactly one of them, is needed with provider CertificateSigningRequest; with CertManager at most one may be given, with the others none',
    holds: ({ certificate: { provider, caBundle, caBundleFrom } }) => {
      const given = [caBundle, caBundleFrom].filter((each) => each !== undefined).length;
      if (provider === 'CertManager') return given <= 1;
      return given === (provider === 'CertificateSigningRequest' ? 1 : 0);
    },
  },
  {
    field: 'spec.certificate.leafDuration',
    rule: "!has(self.certificate.issuerRef) || duration(self.certificate.leafDuration) >= duration('1h')",
    message: 'spec.certificate.leafDuration must be 1h at least with issuerRef: cert-manager issues nothing shorter',
    holds: ({ certificate: { issuerRef, leafDuration } }) =>
      issuerRef === undefined || durationMilliseconds(leafDuration) >= 60 * minute,
  },
  {
    field: 'spec.certificate.leafDuration',
    rule: "duration(self.certificate.leafDuration) >= duration('1m')",
    message: 'spec.certificate.leafDuration must be 1m at least',
    holds: ({ certificate }) => durationMilliseconds(certificate.leafDuration) >= minute,
  },
  {
    // A rule and no bounds of the schema: the API server rounds those in its message.
    field: 'spec.certificate.renewalFraction',
    rule: 'self.certificate.renewalFraction >= 0.1 && self.certificate.renewalFraction <= 0.9',
    message: 'spec.certificate.renewalFraction must lie between 0.1 and 0.9, e.g. 0.667',
    holds: ({ certificate: { renewalFraction } }) => renewalFraction >= 0.1 && renewalFraction <= 0.9,
  },
  {
    field: 'spec.certificate.caDuration',
    rule: 'duration(self.certificate.leafDuration) < duration(self.certificate.caDuration)',
    message: 'spec.certificate.caDuration must be longer than leafDuration: an authority outlives what it signs',
    holds: ({ certificate }) =>
      durationMilliseconds(certificate.leafDuration) < durationMilliseconds(certificate.caDuration),
  },
  {
    field: 'spec.certificate.caDuration',
    rule: "duration(self.certificate.caDuration) <= duration('876000h')",
    message: 'spec.certificate.caDuration must be 876000h (100 years) at most',
    holds: ({ certificate }) => durationMilliseconds(certificate.caDuration) <= 876_000 * 60 * minute,
  },
  {
    field: 'spec.certificate.caDuration',
    rule: 'double(duration(self.certificate.caDuration).getSeconds()) * (1.0 - self.certificate.renewalFraction) > double(duration(self.certificate.confirmationPeriod).getSeconds())',
    message:
      'spec.certificate.caDuration must leave more than confirmationPeriod after the renewal at renewalFraction, in which the new authority is published: make it longer or renew earlier',
    holds: ({ certificate }) =>
      durationMilliseconds(certificate.caDuration) * (1 - certificate.renewalFraction) >
      durationMilliseconds(certificate.confirmationPeriod),
  },
  {
    field: 'spec.certificate.confirmationPeriod',
    rule: "duration(self.certificate.confirmationPeriod) >= duration('10s')",
    message: 'spec.certificate.confirmationPeriod must be 10s at least: API servers take notice of a caBundle late',
    holds: ({ certificate }) => durationMilliseconds(certificate.confirmationPeriod) >= 10_000,
  },
];

/** The rules about changes: `self` and `oldSelf` are the spec. Nothing that is in a file can break them. */
export const revisionIsImmutable = {
  field: 'spec.revision',
  rule: 'has(self.revision) == has(oldSelf.revision) && (!has(self.revision) || self.revision == oldSelf.revision)',
  message:
    'spec.revision cannot be set, changed or removed: create another InjectorConfig for another revision and move namespaces to it',
} as const;

/** Another class would leave behind what the operator of this one has written: no operator would ever remove it or release the finalizer. */
export function operatorClassIsImmutable(kind: string) {
  return {
    field: 'spec.operatorClass',
    rule: "(has(self.operatorClass) ? self.operatorClass : 'default') == (has(oldSelf.operatorClass) ? oldSelf.operatorClass : 'default')",
    message: `spec.operatorClass cannot be set, changed or removed: delete this ${kind} and create it again with the other class`,
  };
}

/** What is wrong with a value by some rules. */
export function brokenRules<T>(rules: readonly ValidationRule<T>[], value: T): Mistake[] {
  return rules.filter((rule) => !rule.holds(value)).map(({ field, message }) => ({ field, message }));
}

/** Whether anything beside templates is written down of what a configuration in Istio's format holds; an empty map or list is its default. */
function hasInlineConfiguration(injection: InjectorConfigSpec['injection']): boolean {
  const { aliases, injectedAnnotations, alwaysInjectSelector, neverInjectSelector } = injection;
  const collections = [aliases, injectedAnnotations, alwaysInjectSelector, neverInjectSelector];
  if (injection.policy !== undefined || injection.defaultTemplates !== undefined) return true;
  return collections.some((each) => Object.keys(each).length > 0);
}
