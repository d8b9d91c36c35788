/** An InjectorConfig that must be refused. */
export interface BadInjectorConfig {
  readonly title: string;
  readonly name?: string;
  readonly spec: Record<string, unknown>;
  /** The field that every error message must name. */
  readonly field: string;
  /**
   * `schema`: refused by the structural schema and by parseInjectorConfig. `rule`: refused by a CEL
   * rule of the CRD, in the API server and in validateInjectorConfig. `webhook`: refused only by
   * validateInjectorConfig.
   */
  readonly refusedBy: 'schema' | 'rule' | 'webhook';
  readonly message: RegExp;
}

const template = { templates: { sidecar: 'metadata: {}' } };
const configFrom = { namespace: 'a', name: 'istio-sidecar-injector', key: 'config' };
const injection = (fields: object) => ({ injection: { ...template, ...fields } });
const webhook = (fields: object) => ({ injection: template, webhook: fields });
const certificate = (fields: object) => ({ injection: template, certificate: fields });

export const badInjectorConfigs: readonly BadInjectorConfig[] = [
  // --- schema
  { title: 'a revision in capitals', spec: { ...injection({}), revision: 'Canary' }, field: 'spec.revision', refusedBy: 'schema', message: /DNS-1123|should match/ },
  { title: 'a revision that is too long', spec: { ...injection({}), revision: 'r'.repeat(64) }, field: 'spec.revision', refusedBy: 'schema', message: /63/ },
  { title: 'a revision that is a number', spec: { ...injection({}), revision: 124 }, field: 'spec.revision', refusedBy: 'schema', message: /string/ },
  { title: 'an operator class with a dot', spec: { ...injection({}), operatorClass: 'a.b' }, field: 'spec.operatorClass', refusedBy: 'schema', message: /DNS-1123|should match/ },
  { title: 'an unknown policy', spec: injection({ policy: 'on' }), field: 'spec.injection.policy', refusedBy: 'schema', message: /enabled/ },
  { title: 'templates as a list', spec: { injection: { templates: ['x'] } }, field: 'spec.injection.templates', refusedBy: 'schema', message: /object|record/ },
  { title: 'a template that is not a string', spec: { injection: { templates: { sidecar: { spec: {} } } } }, field: 'spec.injection.templates.sidecar', refusedBy: 'schema', message: /string/ },
  { title: 'too many templates', spec: { injection: { templates: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`t${i}`, 'x'])) } }, field: 'spec.injection.templates', refusedBy: 'schema', message: /at most 32|32 items/ },
  { title: 'one delimiter', spec: injection({ delimiters: ['[['] }), field: 'spec.injection.delimiters', refusedBy: 'schema', message: /2/ },
  { title: 'three delimiters', spec: injection({ delimiters: ['a', 'b', 'c'] }), field: 'spec.injection.delimiters', refusedBy: 'schema', message: /2/ },
  { title: 'a selector with an unknown operator', spec: injection({ neverInjectSelector: [{ matchExpressions: [{ key: 'a', operator: 'Equals' }] }] }), field: 'spec.injection.neverInjectSelector[0].matchExpressions[0].operator', refusedBy: 'schema', message: /NotIn/ },
  { title: 'a selector without a key', spec: injection({ alwaysInjectSelector: [{ matchExpressions: [{ operator: 'Exists' }] }] }), field: 'spec.injection.alwaysInjectSelector[0].matchExpressions[0].key', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'valuesFrom without a key', spec: injection({ valuesFrom: { namespace: 'a', name: 'b' } }), field: 'spec.injection.valuesFrom.key', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'valuesFrom with an invalid name', spec: injection({ valuesFrom: { namespace: 'a', name: 'B_', key: 'values' } }), field: 'spec.injection.valuesFrom.name', refusedBy: 'schema', message: /name|should match/ },
  { title: 'configFrom without a key', spec: { injection: { configFrom: { namespace: 'a', name: 'b' } } }, field: 'spec.injection.configFrom.key', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'configFrom with an invalid namespace', spec: { injection: { configFrom: { namespace: 'A', name: 'b', key: 'config' } } }, field: 'spec.injection.configFrom.namespace', refusedBy: 'schema', message: /DNS-1123|should match/ },
  { title: 'meshConfigFrom with an invalid key', spec: injection({ meshConfigFrom: { namespace: 'a', name: 'b', key: 'mesh config' } }), field: 'spec.injection.meshConfigFrom.key', refusedBy: 'schema', message: /key|should match/ },
  { title: 'meshConfigFrom as a string', spec: injection({ meshConfigFrom: 'istio' }), field: 'spec.injection.meshConfigFrom', refusedBy: 'schema', message: /object/ },
  { title: 'nativeSidecars: true', spec: injection({ nativeSidecars: 'true' }), field: 'spec.injection.nativeSidecars', refusedBy: 'schema', message: /Auto/ },
  { title: 'an unknown preset', spec: injection({ annotationOverrides: { preset: 'Unsafe' } }), field: 'spec.injection.annotationOverrides.preset', refusedBy: 'schema', message: /Safe/ },
  { title: 'a failure policy in lower case', spec: webhook({ failurePolicy: 'ignore' }), field: 'spec.webhook.failurePolicy', refusedBy: 'schema', message: /Ignore/ },
  { title: 'a timeout above the maximum of Kubernetes', spec: webhook({ timeoutSeconds: 31 }), field: 'spec.webhook.timeoutSeconds', refusedBy: 'schema', message: /30/ },
  { title: 'a timeout of zero', spec: webhook({ timeoutSeconds: 0 }), field: 'spec.webhook.timeoutSeconds', refusedBy: 'schema', message: /1/ },
  { title: 'a fractional timeout', spec: webhook({ timeoutSeconds: 0.5 }), field: 'spec.webhook.timeoutSeconds', refusedBy: 'schema', message: /int/ },
  { title: 'an excluded namespace in capitals', spec: webhook({ excludedNamespaces: ['Prod'] }), field: 'spec.webhook.excludedNamespaces[0]', refusedBy: 'schema', message: /DNS-1123|should match/ },
  { title: 'a url without TLS', spec: webhook({ url: 'http://injector.example.com' }), field: 'spec.webhook.url', refusedBy: 'schema', message: /https/ },
  { title: 'a url with a query', spec: webhook({ url: 'https://injector.example.com/?a=b' }), field: 'spec.webhook.url', refusedBy: 'schema', message: /https/ },
  { title: 'a url with a user', spec: webhook({ url: 'https://me@injector.example.com' }), field: 'spec.webhook.url', refusedBy: 'schema', message: /https/ },
  { title: 'a key that is not a label name', spec: webhook({ keys: { inject: 'a b' } }), field: 'spec.webhook.keys.inject', refusedBy: 'schema', message: /label name|should match/ },
  { title: 'a condition without an expression', spec: webhook({ matchConditions: [{ name: 'x' }] }), field: 'spec.webhook.matchConditions[0].expression', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'an unknown provider', spec: certificate({ provider: 'Vault' }), field: 'spec.certificate.provider', refusedBy: 'schema', message: /SelfSigned/ },
  { title: 'a signer without a domain', spec: certificate({ provider: 'CertificateSigningRequest', signerName: 'serving', caBundle: 'x' }), field: 'spec.certificate.signerName', refusedBy: 'schema', message: /DOMAIN|should match/ },
  { title: 'a certificate for nine minutes', spec: certificate({ provider: 'CertificateSigningRequest', signerName: 'a.b/c', caBundle: 'x', expirationSeconds: 540 }), field: 'spec.certificate.expirationSeconds', refusedBy: 'schema', message: /600/ },
  { title: 'authorities from a Pod', spec: certificate({ provider: 'CertificateSigningRequest', signerName: 'a.b/c', caBundleFrom: { kind: 'Pod', name: 'a' } }), field: 'spec.certificate.caBundleFrom.kind', refusedBy: 'schema', message: /ConfigMap/ },
  { title: 'a Secret in capitals', spec: certificate({ provider: 'Secret', secretRef: { name: 'My' } }), field: 'spec.certificate.secretRef.name', refusedBy: 'schema', message: /name of a Secret|should match/ },
  { title: 'a 1024-bit key', spec: certificate({ keySize: 1024 }), field: 'spec.certificate.keySize', refusedBy: 'schema', message: /2048/ },
  { title: 'a duration in days', spec: certificate({ leafDuration: '7d' }), field: 'spec.certificate.leafDuration', refusedBy: 'schema', message: /duration|should match/ },
  // --- rules
  { title: 'a name with a dot', name: 'a.b', spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /DNS-1123 label of at most 46/ },
  { title: 'a name that is too long', name: 'n'.repeat(47), spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /at most 46/ },
  { title: 'a name that begins with tag-', name: 'tag-prod', spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /choose another name/ },
  { title: 'a name that begins with probe-', name: 'probe-x', spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /choose another name/ },
  { title: 'a name that ends with -serving', name: 'x-serving', spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /choose another name/ },
  { title: 'a name that ends with 8 hex digits', name: 'x-0123abcd', spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /choose another name/ },
  { title: 'revision default with another name', name: 'mesh', spec: { ...injection({}), revision: 'default' }, field: 'spec.revision', refusedBy: 'rule', message: /if and only if/ },
  { title: 'another revision with name default', name: 'default', spec: { ...injection({}), revision: '1-24' }, field: 'spec.revision', refusedBy: 'rule', message: /if and only if/ },
  { title: 'a spec without a template', spec: {}, field: 'spec.injection', refusedBy: 'rule', message: /exactly one of templates, template and configFrom/ },
  { title: 'templates and template', spec: injection({ template: 'containers: []' }), field: 'spec.injection', refusedBy: 'rule', message: /exactly one of templates/ },
  { title: 'templates and configFrom', spec: injection({ configFrom }), field: 'spec.injection', refusedBy: 'rule', message: /exactly one of templates/ },
  { title: 'a single template and configFrom', spec: { injection: { template: 'containers: []', configFrom } }, field: 'spec.injection', refusedBy: 'rule', message: /exactly one of templates/ },
  { title: 'configFrom with the default policy', spec: { injection: { configFrom, policy: 'enabled' } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /cannot be combined with policy/ },
  { title: 'configFrom with defaultTemplates', spec: { injection: { configFrom, defaultTemplates: [] } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /cannot be combined with .*defaultTemplates/ },
  { title: 'configFrom with aliases', spec: { injection: { configFrom, aliases: { a: ['b'] } } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /cannot be combined with .*aliases/ },
  { title: 'configFrom with injected annotations', spec: { injection: { configFrom, injectedAnnotations: { a: 'b' } } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /cannot be combined with .*injectedAnnotations/ },
  { title: 'configFrom with alwaysInjectSelector', spec: { injection: { configFrom, alwaysInjectSelector: [{}] } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /cannot be combined with .*alwaysInjectSelector/ },
  { title: 'configFrom with neverInjectSelector', spec: { injection: { configFrom, neverInjectSelector: [{}] } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /cannot be combined with .*neverInjectSelector/ },
  { title: 'allow with preset Istio', spec: injection({ annotationOverrides: { preset: 'Istio', allow: ['a'] } }), field: 'spec.injection.annotationOverrides.allow', refusedBy: 'rule', message: /requires preset Safe/ },
  { title: 'sameName with configFrom', spec: { injection: { configFrom: { namespace: 'a', name: 'b', key: 'config' }, annotationOverrides: { sameName: 'Warn' } } }, field: 'spec.injection.annotationOverrides.allow', refusedBy: 'rule', message: /requires preset Safe/ },
  { title: 'an allowed name with an inner *', spec: injection({ annotationOverrides: { allow: ['example.com/*/a'] } }), field: 'spec.injection.annotationOverrides.allow', refusedBy: 'rule', message: /example\.com\/\*/ },
  { title: 'meshConfig and meshConfigFrom', spec: injection({ meshConfig: {}, meshConfigFrom: { namespace: 'a', name: 'istio', key: 'mesh' } }), field: 'spec.injection.meshConfigFrom', refusedBy: 'rule', message: /cannot be combined with meshConfig/ },
  { title: 'an empty map of templates', spec: { injection: { templates: {} } }, field: 'spec.injection.templates', refusedBy: 'rule', message: /at least one/ },
  { title: 'a single template with defaultTemplates', spec: { injection: { template: 'x', defaultTemplates: ['x'] } }, field: 'spec.injection.template', refusedBy: 'rule', message: /cannot be combined with defaultTemplates or aliases/ },
  { title: 'a single template with aliases', spec: { injection: { template: 'x', aliases: { a: ['b'] } } }, field: 'spec.injection.template', refusedBy: 'rule', message: /cannot be combined with defaultTemplates or aliases/ },
  { title: 'values and valuesFrom', spec: injection({ values: {}, valuesFrom: { namespace: 'a', name: 'b', key: 'c' } }), field: 'spec.injection.valuesFrom', refusedBy: 'rule', message: /cannot be combined with values/ },
  { title: 'equal delimiters', spec: injection({ delimiters: ['%%', '%%'] }), field: 'spec.injection.delimiters', refusedBy: 'rule', message: /two different/ },
  { title: 'a delimiter with a space', spec: injection({ delimiters: ['{ {', '}}'] }), field: 'spec.injection.delimiters', refusedBy: 'rule', message: /without whitespace/ },
  { title: 'a delimiter with a quote', spec: injection({ delimiters: ['{"', '}}'] }), field: 'spec.injection.delimiters', refusedBy: 'rule', message: /quotes/ },
  { title: 'a selector without selection Custom', spec: webhook({ objectSelector: {} }), field: 'spec.webhook.selection', refusedBy: 'rule', message: /must be Custom/ },
  { title: 'selection Custom without a selector', spec: webhook({ selection: 'Custom' }), field: 'spec.webhook.selection', refusedBy: 'rule', message: /requires namespaceSelector/ },
  { title: 'a url with an invalid address', spec: webhook({ url: 'https://[::::]/' }), field: 'spec.webhook.url', refusedBy: 'rule', message: /must be a URL/ },
  { title: 'a condition with a generated name', spec: webhook({ matchConditions: [{ name: 'not-opted-out', expression: 'true' }] }), field: 'spec.webhook.matchConditions', refusedBy: 'rule', message: /rename/ },
  { title: 'the same name for two keys', spec: webhook({ keys: { injection: 'example.com/inject', inject: 'example.com/inject' } }), field: 'spec.webhook.keys', refusedBy: 'rule', message: /four different/ },
  { title: 'the same name for status and inject', spec: webhook({ keys: { status: 'sidecar.istio.io/inject' } }), field: 'spec.webhook.keys', refusedBy: 'rule', message: /four different/ },
  { title: 'the same name for status and injection', spec: webhook({ keys: { status: 'istio-injection' } }), field: 'spec.webhook.keys', refusedBy: 'rule', message: /four different/ },
  { title: 'a renewalFraction of 1', spec: certificate({ renewalFraction: 1 }), field: 'spec.certificate.renewalFraction', refusedBy: 'rule', message: /between 0\.1 and 0\.9/ },
  { title: 'a signer with another provider', spec: certificate({ signerName: 'a.b/c' }), field: 'spec.certificate.signerName', refusedBy: 'rule', message: /if and only if/ },
  { title: 'CertificateSigningRequest without a signer', spec: certificate({ provider: 'CertificateSigningRequest', caBundle: 'x' }), field: 'spec.certificate.signerName', refusedBy: 'rule', message: /if and only if/ },
  { title: 'a signer built into Kubernetes', spec: certificate({ provider: 'CertificateSigningRequest', caBundle: 'x', signerName: 'kubernetes.io/kubelet-serving' }), field: 'spec.certificate.signerName', refusedBy: 'rule', message: /kubelets only/ },
  { title: 'expirationSeconds without a signer', spec: certificate({ expirationSeconds: 600 }), field: 'spec.certificate.expirationSeconds', refusedBy: 'rule', message: /remove it/ },
  { title: 'CertificateSigningRequest without authorities', spec: certificate({ provider: 'CertificateSigningRequest', signerName: 'a.b/c' }), field: 'spec.certificate.caBundle', refusedBy: 'rule', message: /exactly one of them/ },
  { title: 'caBundle and caBundleFrom', spec: certificate({ provider: 'CertManager', certificateRef: { name: 'a' }, caBundle: 'x', caBundleFrom: { name: 'a' } }), field: 'spec.certificate.caBundle', refusedBy: 'rule', message: /at most one/ },
  { title: 'a caBundle with provider SelfSigned', spec: certificate({ caBundle: 'x' }), field: 'spec.certificate.caBundle', refusedBy: 'rule', message: /allow none/ },
  { title: 'CertManager without issuerRef and certificateRef', spec: certificate({ provider: 'CertManager' }), field: 'spec.certificate.issuerRef', refusedBy: 'rule', message: /exactly one of them/ },
  { title: 'issuerRef and certificateRef', spec: certificate({ provider: 'CertManager', issuerRef: { name: 'a' }, certificateRef: { name: 'b' } }), field: 'spec.certificate.issuerRef', refusedBy: 'rule', message: /exactly one of them/ },
  { title: 'issuerRef with another provider', spec: certificate({ issuerRef: { name: 'a' } }), field: 'spec.certificate.issuerRef', refusedBy: 'rule', message: /exactly one of them/ },
  { title: 'a leafDuration of 30m with issuerRef', spec: certificate({ provider: 'CertManager', issuerRef: { name: 'a' }, leafDuration: '30m' }), field: 'spec.certificate.leafDuration', refusedBy: 'rule', message: /at least 1h/ },
  { title: 'a renewalFraction of 0', spec: certificate({ renewalFraction: 0 }), field: 'spec.certificate.renewalFraction', refusedBy: 'rule', message: /between 0\.1 and 0\.9/ },
  { title: 'provider Secret without secretRef', spec: certificate({ provider: 'Secret' }), field: 'spec.certificate.secretRef', refusedBy: 'rule', message: /if and only if/ },
  { title: 'secretRef with provider SelfSigned', spec: certificate({ secretRef: { name: 'tls' } }), field: 'spec.certificate.secretRef', refusedBy: 'rule', message: /if and only if/ },
  { title: 'a secretRef to a Secret of the operator', spec: certificate({ provider: 'Secret', secretRef: { name: 'sidecar-injector-bad-serving' } }), field: 'spec.certificate.secretRef.name', refusedBy: 'rule', message: /the operator writes Secrets/ },
  { title: 'a leafDuration of 59s', spec: certificate({ leafDuration: '59s' }), field: 'spec.certificate.leafDuration', refusedBy: 'rule', message: /at least 1m/ },
  { title: 'a leafDuration as long as caDuration', spec: certificate({ leafDuration: '8760h' }), field: 'spec.certificate.caDuration', refusedBy: 'rule', message: /longer than leafDuration/ },
  { title: 'a caDuration above 100 years', spec: certificate({ caDuration: '999999h' }), field: 'spec.certificate.caDuration', refusedBy: 'rule', message: /100 years/ },
  { title: 'a caDuration without time for the confirmation', spec: certificate({ leafDuration: '1m', caDuration: '2m' }), field: 'spec.certificate.caDuration', refusedBy: 'rule', message: /leave more than confirmationPeriod/ },
  { title: 'a confirmationPeriod longer than the remaining validity', spec: certificate({ confirmationPeriod: '3000h' }), field: 'spec.certificate.caDuration', refusedBy: 'rule', message: /leave more than confirmationPeriod/ },
  { title: 'a confirmationPeriod of 9s', spec: certificate({ confirmationPeriod: '9s' }), field: 'spec.certificate.confirmationPeriod', refusedBy: 'rule', message: /at least 10s/ },
  // --- only the validating webhook and reconcile
  { title: 'a default template that does not exist', spec: { injection: { templates: { hello: 'x', bye: 'y' } } }, field: 'spec.injection.defaultTemplates', refusedBy: 'webhook', message: /"sidecar".*use one of bye, hello/ },
  { title: 'an alias of an alias', spec: injection({ aliases: { a: ['sidecar'], b: ['a'] } }), field: 'spec.injection.aliases.b', refusedBy: 'webhook', message: /"a".*use one of sidecar/ },
  { title: 'an annotation with a space', spec: injection({ injectedAnnotations: { 'a b': 'c' } }), field: 'spec.injection.injectedAnnotations', refusedBy: 'webhook', message: /"a b" is not an annotation name/ },
  { title: 'operator In without values', spec: injection({ neverInjectSelector: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] }), field: 'spec.injection.neverInjectSelector[0].matchExpressions[0].values', refusedBy: 'webhook', message: /at least one value/ },
  { title: 'operator Exists with values', spec: webhook({ selection: 'Custom', objectSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } }), field: 'spec.webhook.objectSelector.matchExpressions[0].values', refusedBy: 'webhook', message: /takes no values/ },
  { title: 'a label name with a space', spec: webhook({ selection: 'Custom', namespaceSelector: { matchLabels: { 'a b': 'c' } } }), field: 'spec.webhook.namespaceSelector.matchLabels', refusedBy: 'webhook', message: /"a b" is not a label name/ },
  { title: 'a configuration too large for a ConfigMap', spec: { injection: { templates: { sidecar: 'x'.repeat(500_000), gateway: 'y'.repeat(450_000) } } }, field: 'spec.injection', refusedBy: 'webhook', message: /templates 928.*900 KiB/ },
];
