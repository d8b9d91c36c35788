import { ownSecretName } from '../names.ts';
import { validationRules } from '../validation-rules.ts';
import { matchConditionNames } from './match-condition-names.ts';

const generatedNames = Object.values(matchConditionNames);

/** The rules about the name; `self` is the whole object. */
export const nameRules = validationRules({
  'metadata.name must be a DNS-1123 label of at most 46 characters, because the names of other objects contain it; choose another name':
    "self.metadata.name.size() <= 46 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
  // The names of our objects without their prefix: `tag-T`, `probe-N`, `N-serving`, `N-<hash8>`.
  'metadata.name must not begin with tag- or probe-, or end with -serving or a hyphen and 8 hex digits, because the operator uses such names for other objects; choose another name':
    "!self.metadata.name.matches('^(tag|probe)-|-serving$|-[0-9a-f]{8}$')",
  'spec.revision must be "default" if and only if metadata.name is "default"; change one of them':
    "(self.metadata.name == 'default') == ((has(self.spec.revision) ? self.spec.revision : self.metadata.name) == 'default')",
});

/** The rules between fields of the spec; `self` is the spec. */
export const specRules = validationRules({
  'spec.injection must set exactly one of templates, template and configFrom; set one and remove the others':
    '[has(self.injection.templates), has(self.injection.template), has(self.injection.configFrom)].filter(given, given).size() == 1',
  'spec.injection.configFrom cannot be combined with policy, defaultTemplates, aliases, injectedAnnotations, alwaysInjectSelector or neverInjectSelector, because its ConfigMap contains them; remove these fields, or replace configFrom by templates':
    '!has(self.injection.configFrom) || (!has(self.injection.policy) && !has(self.injection.defaultTemplates) && [size(self.injection.aliases), size(self.injection.injectedAnnotations), size(self.injection.alwaysInjectSelector), size(self.injection.neverInjectSelector)].all(entries, entries == 0))',
  'spec.injection.meshConfigFrom cannot be combined with meshConfig; remove one of them':
    '!(has(self.injection.meshConfig) && has(self.injection.meshConfigFrom))',
  'spec.injection.templates must contain at least one template; add one':
    '!has(self.injection.templates) || size(self.injection.templates) > 0',
  'spec.injection.template cannot be combined with defaultTemplates or aliases, which choose among several templates; remove them, or use templates instead of template':
    '!has(self.injection.template) || (!has(self.injection.defaultTemplates) && size(self.injection.aliases) == 0)',
  'spec.injection.valuesFrom cannot be combined with values; remove one of them':
    '!(has(self.injection.values) && has(self.injection.valuesFrom))',
  'spec.injection.annotationOverrides.allow requires preset Safe, as do sameName and sameNameFields, because preset Istio (the default with configFrom) already allows everything; set preset to Safe or remove these fields':
    "!has(self.injection.annotationOverrides) || (size(self.injection.annotationOverrides.allow) == 0 && !has(self.injection.annotationOverrides.sameName) && !has(self.injection.annotationOverrides.sameNameFields)) || (has(self.injection.annotationOverrides.preset) ? self.injection.annotationOverrides.preset == 'Safe' : !has(self.injection.configFrom))",
  'spec.injection.annotationOverrides.allow must contain names of annotations or labels such as example.com/image, or prefixes that end with * such as example.com/*; correct the list':
    "!has(self.injection.annotationOverrides) || self.injection.annotationOverrides.allow.all(name, name.matches('^[A-Za-z0-9][-A-Za-z0-9_./]*[*]?$'))",
  'spec.injection.delimiters must be two different strings without whitespace and quotes, such as {{ and }} or [[ and ]]; correct the list':
    "self.injection.delimiters[0] != self.injection.delimiters[1] && self.injection.delimiters.all(d, !d.matches('[\\\\s\"`]'))",
  'spec.webhook.selection must be Custom when namespaceSelector or objectSelector is set; set it to Custom or remove the selectors':
    "self.webhook.selection == 'Custom' || (!has(self.webhook.namespaceSelector) && !has(self.webhook.objectSelector))",
  'spec.webhook.selection Custom requires namespaceSelector or objectSelector, because otherwise the webhook would select every pod; set one of them':
    "self.webhook.selection != 'Custom' || has(self.webhook.namespaceSelector) || has(self.webhook.objectSelector)",
  'spec.webhook.url must be a URL of the form https://HOST[:PORT][/PATH]; correct it':
    '!has(self.webhook.url) || isURL(self.webhook.url)',
  [`spec.webhook.matchConditions must not use the names ${generatedNames.join(', ')}, because every webhook already has conditions with these names; rename the condition`]: `self.webhook.matchConditions.all(c, !(c.name in [${generatedNames.map((name) => `'${name}'`).join(', ')}]))`,
  'spec.webhook.keys must be four different names; change the repeated name':
    'self.webhook.keys.injection != self.webhook.keys.revision && self.webhook.keys.injection != self.webhook.keys.inject && self.webhook.keys.revision != self.webhook.keys.inject && !(self.webhook.keys.status in [self.webhook.keys.injection, self.webhook.keys.revision, self.webhook.keys.inject])',
  'spec.certificate.secretRef must be set if and only if provider is Secret; change provider or secretRef':
    "(self.certificate.provider == 'Secret') == has(self.certificate.secretRef)",
  'spec.certificate.secretRef.name must not begin with sidecar-injector-, injector-validator-, injector-request- or injector-certificate-, because the operator writes Secrets with such names; give your Secret another name': `!has(self.certificate.secretRef) || !self.certificate.secretRef.name.matches('${ownSecretName.source}')`,
  'spec.certificate.signerName must be set if and only if provider is CertificateSigningRequest; change provider or signerName':
    "(self.certificate.provider == 'CertificateSigningRequest') == has(self.certificate.signerName)",
  'spec.certificate.signerName must not begin with kubernetes.io/, because the signers built into Kubernetes issue certificates for clients and kubelets only; name a signer that issues serving certificates':
    "!has(self.certificate.signerName) || !self.certificate.signerName.startsWith('kubernetes.io/')",
  'spec.certificate.expirationSeconds is allowed only with provider CertificateSigningRequest; remove it':
    '!has(self.certificate.expirationSeconds) || has(self.certificate.signerName)',
  'spec.certificate.issuerRef and certificateRef: provider CertManager requires exactly one of them, and other providers do not allow them; set one or remove the others':
    "[has(self.certificate.issuerRef), has(self.certificate.certificateRef)].filter(given, given).size() == (self.certificate.provider == 'CertManager' ? 1 : 0)",
  'spec.certificate.caBundle and caBundleFrom: provider CertificateSigningRequest requires exactly one of them, CertManager allows at most one, and other providers allow none; add or remove a field':
    "!(has(self.certificate.caBundle) && has(self.certificate.caBundleFrom)) && (self.certificate.provider == 'CertManager' || (self.certificate.provider == 'CertificateSigningRequest') == (has(self.certificate.caBundle) || has(self.certificate.caBundleFrom)))",
  'spec.certificate.leafDuration must be at least 1h with issuerRef, because cert-manager issues no shorter certificates; increase it':
    "!has(self.certificate.issuerRef) || duration(self.certificate.leafDuration) >= duration('1h')",
  'spec.certificate.leafDuration must be at least 1m; increase it':
    "duration(self.certificate.leafDuration) >= duration('1m')",
  // A rule instead of schema bounds, because the API server rounds such bounds in its message.
  'spec.certificate.renewalFraction must be between 0.1 and 0.9, for example 0.667; correct it':
    'self.certificate.renewalFraction >= 0.1 && self.certificate.renewalFraction <= 0.9',
  'spec.certificate.caDuration must be longer than leafDuration, because an authority must outlive the certificates that it signs; increase caDuration or reduce leafDuration':
    'duration(self.certificate.leafDuration) < duration(self.certificate.caDuration)',
  'spec.certificate.caDuration must be at most 876000h (100 years); reduce it':
    "duration(self.certificate.caDuration) <= duration('876000h')",
  'spec.certificate.caDuration must leave more than confirmationPeriod between the renewal at renewalFraction and the expiry, because API servers need this time to load the new authority; increase caDuration, or reduce renewalFraction or confirmationPeriod':
    'double(duration(self.certificate.caDuration).getSeconds()) * (1.0 - self.certificate.renewalFraction) > double(duration(self.certificate.confirmationPeriod).getSeconds())',
  'spec.certificate.confirmationPeriod must be at least 10s, because API servers load a new caBundle with a delay; increase it':
    "duration(self.certificate.confirmationPeriod) >= duration('10s')",
});

/** The rules about changes, where `self` and `oldSelf` are the spec. They do not apply to files. */
export const revisionIsImmutable = validationRules({
  'spec.revision cannot be set, changed or removed after creation; create another InjectorConfig for the other revision and move the namespaces to it':
    'has(self.revision) == has(oldSelf.revision) && (!has(self.revision) || self.revision == oldSelf.revision)',
});

/** The class cannot change: no operator would delete the old class's objects and finalizers. */
export function operatorClassIsImmutable(kind: string) {
  return validationRules({
    [`spec.operatorClass cannot be set, changed or removed after creation; delete this ${kind} and create it again with the other class`]:
      "(has(self.operatorClass) ? self.operatorClass : 'default') == (has(oldSelf.operatorClass) ? oldSelf.operatorClass : 'default')",
  });
}
