/** An InjectorConfig that must be refused, and by whom. */
export interface BadInjectorConfig {
  readonly title: string;
  readonly name?: string;
  readonly spec: Record<string, unknown>;
  /** The field that every message about it must name. */
  readonly field: string;
  /**
   * `schema`: the API server by its structural schema, and parseInjectorConfig. `rule`: the API server by CEL, and validateInjectorConfig with the same
   * sentence. `webhook`: validateInjectorConfig alone; the API server's schema admits it.
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
  { title: 'a template that is no text', spec: { injection: { templates: { sidecar: { spec: {} } } } }, field: 'spec.injection.templates.sidecar', refusedBy: 'schema', message: /string/ },
  { title: 'too many templates', spec: { injection: { templates: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`t${i}`, 'x'])) } }, field: 'spec.injection.templates', refusedBy: 'schema', message: /at most 32|32 items/ },
  { title: 'one delimiter', spec: injection({ delimiters: ['[['] }), field: 'spec.injection.delimiters', refusedBy: 'schema', message: /2/ },
  { title: 'three delimiters', spec: injection({ delimiters: ['a', 'b', 'c'] }), field: 'spec.injection.delimiters', refusedBy: 'schema', message: /2/ },
  { title: 'a selector with an unknown operator', spec: injection({ neverInjectSelector: [{ matchExpressions: [{ key: 'a', operator: 'Equals' }] }] }), field: 'spec.injection.neverInjectSelector[0].matchExpressions[0].operator', refusedBy: 'schema', message: /NotIn/ },
  { title: 'a selector without a key', spec: injection({ alwaysInjectSelector: [{ matchExpressions: [{ operator: 'Exists' }] }] }), field: 'spec.injection.alwaysInjectSelector[0].matchExpressions[0].key', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'valuesFrom without a key', spec: injection({ valuesFrom: { namespace: 'a', name: 'b' } }), field: 'spec.injection.valuesFrom.key', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'valuesFrom with a name that is none', spec: injection({ valuesFrom: { namespace: 'a', name: 'B_', key: 'values' } }), field: 'spec.injection.valuesFrom.name', refusedBy: 'schema', message: /name|should match/ },
  { title: 'configFrom without a key', spec: { injection: { configFrom: { namespace: 'a', name: 'b' } } }, field: 'spec.injection.configFrom.key', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'configFrom with a namespace that is none', spec: { injection: { configFrom: { namespace: 'A', name: 'b', key: 'config' } } }, field: 'spec.injection.configFrom.namespace', refusedBy: 'schema', message: /DNS-1123|should match/ },
  { title: 'meshConfigFrom with a key that is none', spec: injection({ meshConfigFrom: { namespace: 'a', name: 'b', key: 'mesh config' } }), field: 'spec.injection.meshConfigFrom.key', refusedBy: 'schema', message: /key|should match/ },
  { title: 'meshConfigFrom as a text', spec: injection({ meshConfigFrom: 'istio' }), field: 'spec.injection.meshConfigFrom', refusedBy: 'schema', message: /object/ },
  { title: 'native sidecars: true', spec: injection({ nativeSidecars: 'true' }), field: 'spec.injection.nativeSidecars', refusedBy: 'schema', message: /Auto/ },
  { title: 'an unknown preset', spec: injection({ annotationOverrides: { preset: 'Unsafe' } }), field: 'spec.injection.annotationOverrides.preset', refusedBy: 'schema', message: /Safe/ },
  { title: 'a failure policy in lower case', spec: webhook({ failurePolicy: 'ignore' }), field: 'spec.webhook.failurePolicy', refusedBy: 'schema', message: /Ignore/ },
  { title: 'a timeout above what Kubernetes allows', spec: webhook({ timeoutSeconds: 31 }), field: 'spec.webhook.timeoutSeconds', refusedBy: 'schema', message: /30/ },
  { title: 'a timeout of nothing', spec: webhook({ timeoutSeconds: 0 }), field: 'spec.webhook.timeoutSeconds', refusedBy: 'schema', message: /1/ },
  { title: 'half a second', spec: webhook({ timeoutSeconds: 0.5 }), field: 'spec.webhook.timeoutSeconds', refusedBy: 'schema', message: /int/ },
  { title: 'an excluded namespace in capitals', spec: webhook({ excludedNamespaces: ['Prod'] }), field: 'spec.webhook.excludedNamespaces[0]', refusedBy: 'schema', message: /DNS-1123|should match/ },
  { title: 'a url without TLS', spec: webhook({ url: 'http://injector.example.com' }), field: 'spec.webhook.url', refusedBy: 'schema', message: /https/ },
  { title: 'a url with a query', spec: webhook({ url: 'https://injector.example.com/?a=b' }), field: 'spec.webhook.url', refusedBy: 'schema', message: /https/ },
  { title: 'a url with a user', spec: webhook({ url: 'https://me@injector.example.com' }), field: 'spec.webhook.url', refusedBy: 'schema', message: /https/ },
  { title: 'a key that is no label name', spec: webhook({ keys: { inject: 'a b' } }), field: 'spec.webhook.keys.inject', refusedBy: 'schema', message: /label name|should match/ },
  { title: 'a condition without an expression', spec: webhook({ matchConditions: [{ name: 'x' }] }), field: 'spec.webhook.matchConditions[0].expression', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'an unknown provider', spec: certificate({ provider: 'Vault' }), field: 'spec.certificate.provider', refusedBy: 'schema', message: /SelfSigned/ },
  { title: 'a signer without a domain', spec: certificate({ provider: 'CertificateSigningRequest', signerName: 'serving', caBundle: 'x' }), field: 'spec.certificate.signerName', refusedBy: 'schema', message: /DOMAIN|should match/ },
  { title: 'a certificate for nine minutes', spec: certificate({ provider: 'CertificateSigningRequest', signerName: 'a.b/c', caBundle: 'x', expirationSeconds: 540 }), field: 'spec.certificate.expirationSeconds', refusedBy: 'schema', message: /600/ },
  { title: 'authorities from a Pod', spec: certificate({ provider: 'CertificateSigningRequest', signerName: 'a.b/c', caBundleFrom: { kind: 'Pod', name: 'a' } }), field: 'spec.certificate.caBundleFrom.kind', refusedBy: 'schema', message: /ConfigMap/ },
  { title: 'a Secret in capitals', spec: certificate({ provider: 'Secret', secretRef: { name: 'My' } }), field: 'spec.certificate.secretRef.name', refusedBy: 'schema', message: /name of a Secret|should match/ },
  { title: 'a short key', spec: certificate({ keySize: 1024 }), field: 'spec.certificate.keySize', refusedBy: 'schema', message: /2048/ },
  { title: 'days as a duration', spec: certificate({ leafDuration: '7d' }), field: 'spec.certificate.leafDuration', refusedBy: 'schema', message: /duration|should match/ },
  // --- rules
  { title: 'a name with a dot', name: 'a.b', spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /DNS-1123 label of at most 46/ },
  { title: 'a name that is too long', name: 'n'.repeat(47), spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /at most 46/ },
  { title: 'the name of a tag', name: 'tag-prod', spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /choose another name/ },
  { title: 'the name of a probe', name: 'probe-x', spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /choose another name/ },
  { title: 'the name of a serving Secret', name: 'x-serving', spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /choose another name/ },
  { title: 'the name of a hashed ConfigMap', name: 'x-0123abcd', spec: injection({}), field: 'metadata.name', refusedBy: 'rule', message: /choose another name/ },
  { title: 'default under another name', name: 'mesh', spec: { ...injection({}), revision: 'default' }, field: 'spec.revision', refusedBy: 'rule', message: /exactly when/ },
  { title: 'another revision under the name default', name: 'default', spec: { ...injection({}), revision: '1-24' }, field: 'spec.revision', refusedBy: 'rule', message: /exactly when/ },
  { title: 'no template at all', spec: {}, field: 'spec.injection', refusedBy: 'rule', message: /exactly one of templates, template and configFrom/ },
  { title: 'templates and template', spec: injection({ template: 'containers: []' }), field: 'spec.injection', refusedBy: 'rule', message: /not two/ },
  { title: 'templates and configFrom', spec: injection({ configFrom }), field: 'spec.injection', refusedBy: 'rule', message: /not two/ },
  { title: 'a single template and configFrom', spec: { injection: { template: 'containers: []', configFrom } }, field: 'spec.injection', refusedBy: 'rule', message: /not two/ },
  { title: 'configFrom with a policy, though it is the default', spec: { injection: { configFrom, policy: 'enabled' } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /excludes policy/ },
  { title: 'configFrom with defaultTemplates', spec: { injection: { configFrom, defaultTemplates: [] } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /excludes .*defaultTemplates/ },
  { title: 'configFrom with aliases', spec: { injection: { configFrom, aliases: { a: ['b'] } } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /excludes .*aliases/ },
  { title: 'configFrom with injected annotations', spec: { injection: { configFrom, injectedAnnotations: { a: 'b' } } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /excludes .*injectedAnnotations/ },
  { title: 'configFrom with alwaysInjectSelector', spec: { injection: { configFrom, alwaysInjectSelector: [{}] } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /excludes .*alwaysInjectSelector/ },
  { title: 'configFrom with neverInjectSelector', spec: { injection: { configFrom, neverInjectSelector: [{}] } }, field: 'spec.injection.configFrom', refusedBy: 'rule', message: /excludes .*neverInjectSelector/ },
  { title: 'annotations to allow where all are', spec: injection({ annotationOverrides: { preset: 'Istio', allow: ['a'] } }), field: 'spec.injection.annotationOverrides.allow', refusedBy: 'rule', message: /needs preset Safe/ },
  { title: 'annotations to allow with configFrom', spec: { injection: { configFrom: { namespace: 'a', name: 'b', key: 'config' }, annotationOverrides: { allow: ['a'] } } }, field: 'spec.injection.annotationOverrides.allow', refusedBy: 'rule', message: /needs preset Safe/ },
  { title: 'an annotation name with a hole', spec: injection({ annotationOverrides: { allow: ['example.com/*/a'] } }), field: 'spec.injection.annotationOverrides.allow', refusedBy: 'rule', message: /example\.com\/\*/ },
  { title: 'a mesh config twice', spec: injection({ meshConfig: {}, meshConfigFrom: { namespace: 'a', name: 'istio', key: 'mesh' } }), field: 'spec.injection.meshConfigFrom', refusedBy: 'rule', message: /excludes meshConfig/ },
  { title: 'an empty map of templates', spec: { injection: { templates: {} } }, field: 'spec.injection.templates', refusedBy: 'rule', message: /at least one/ },
  { title: 'a single template with defaultTemplates', spec: { injection: { template: 'x', defaultTemplates: ['x'] } }, field: 'spec.injection.template', refusedBy: 'rule', message: /excludes/ },
  { title: 'a single template with aliases', spec: { injection: { template: 'x', aliases: { a: ['b'] } } }, field: 'spec.injection.template', refusedBy: 'rule', message: /excludes/ },
  { title: 'values twice', spec: injection({ values: {}, valuesFrom: { namespace: 'a', name: 'b', key: 'c' } }), field: 'spec.injection.valuesFrom', refusedBy: 'rule', message: /excludes values/ },
  { title: 'equal delimiters', spec: injection({ delimiters: ['%%', '%%'] }), field: 'spec.injection.delimiters', refusedBy: 'rule', message: /two different/ },
  { title: 'a delimiter with a space', spec: injection({ delimiters: ['{ {', '}}'] }), field: 'spec.injection.delimiters', refusedBy: 'rule', message: /without spaces/ },
  { title: 'a delimiter with a quote', spec: injection({ delimiters: ['{"', '}}'] }), field: 'spec.injection.delimiters', refusedBy: 'rule', message: /quotes/ },
  { title: 'a selector without selection Custom', spec: webhook({ objectSelector: {} }), field: 'spec.webhook.selection', refusedBy: 'rule', message: /must be Custom/ },
  { title: 'selection Custom without a selector', spec: webhook({ selection: 'Custom' }), field: 'spec.webhook.selection', refusedBy: 'rule', message: /needs namespaceSelector/ },
  { title: 'a url with an impossible address', spec: webhook({ url: 'https://[::::]/' }), field: 'spec.webhook.url', refusedBy: 'rule', message: /must be a URL/ },
  { title: 'a condition with a generated name', spec: webhook({ matchConditions: [{ name: 'not-opted-out', expression: 'true' }] }), field: 'spec.webhook.matchConditions', refusedBy: 'rule', message: /rename/ },
  { title: 'one name for two keys', spec: webhook({ keys: { injection: 'example.com/inject', inject: 'example.com/inject' } }), field: 'spec.webhook.keys', refusedBy: 'rule', message: /four different/ },
  { title: 'the status under the name of the opt-in', spec: webhook({ keys: { status: 'sidecar.istio.io/inject' } }), field: 'spec.webhook.keys', refusedBy: 'rule', message: /four different/ },
  { title: 'the status under the name of the injection label', spec: webhook({ keys: { status: 'istio-injection' } }), field: 'spec.webhook.keys', refusedBy: 'rule', message: /four different/ },
  { title: 'a renewal after the end', spec: certificate({ renewalFraction: 1 }), field: 'spec.certificate.renewalFraction', refusedBy: 'rule', message: /between 0\.1 and 0\.9/ },
  { title: 'a signer with another provider', spec: certificate({ signerName: 'a.b/c' }), field: 'spec.certificate.signerName', refusedBy: 'rule', message: /both or neither/ },
  { title: 'requests without a signer', spec: certificate({ provider: 'CertificateSigningRequest', caBundle: 'x' }), field: 'spec.certificate.signerName', refusedBy: 'rule', message: /both or neither/ },
  { title: 'a signer of Kubernetes itself', spec: certificate({ provider: 'CertificateSigningRequest', caBundle: 'x', signerName: 'kubernetes.io/kubelet-serving' }), field: 'spec.certificate.signerName', refusedBy: 'rule', message: /kubelets only/ },
  { title: 'a lifetime without a signer', spec: certificate({ expirationSeconds: 600 }), field: 'spec.certificate.expirationSeconds', refusedBy: 'rule', message: /remove it/ },
  { title: 'requests without authorities', spec: certificate({ provider: 'CertificateSigningRequest', signerName: 'a.b/c' }), field: 'spec.certificate.caBundle', refusedBy: 'rule', message: /exactly one of them/ },
  { title: 'authorities twice', spec: certificate({ provider: 'CertManager', certificateRef: { name: 'a' }, caBundle: 'x', caBundleFrom: { name: 'a' } }), field: 'spec.certificate.caBundle', refusedBy: 'rule', message: /at most one/ },
  { title: 'authorities for our own', spec: certificate({ caBundle: 'x' }), field: 'spec.certificate.caBundle', refusedBy: 'rule', message: /the others none/ },
  { title: 'cert-manager without issuer and Certificate', spec: certificate({ provider: 'CertManager' }), field: 'spec.certificate.issuerRef', refusedBy: 'rule', message: /exactly one of them/ },
  { title: 'issuer and Certificate', spec: certificate({ provider: 'CertManager', issuerRef: { name: 'a' }, certificateRef: { name: 'b' } }), field: 'spec.certificate.issuerRef', refusedBy: 'rule', message: /exactly one of them/ },
  { title: 'an issuer with another provider', spec: certificate({ issuerRef: { name: 'a' } }), field: 'spec.certificate.issuerRef', refusedBy: 'rule', message: /exactly one of them/ },
  { title: 'half an hour of cert-manager', spec: certificate({ provider: 'CertManager', issuerRef: { name: 'a' }, leafDuration: '30m' }), field: 'spec.certificate.leafDuration', refusedBy: 'rule', message: /1h at least/ },
  { title: 'a renewal at once', spec: certificate({ renewalFraction: 0 }), field: 'spec.certificate.renewalFraction', refusedBy: 'rule', message: /between 0\.1 and 0\.9/ },
  { title: 'a Secret as provider without its name', spec: certificate({ provider: 'Secret' }), field: 'spec.certificate.secretRef', refusedBy: 'rule', message: /both or neither/ },
  { title: 'a Secret that no provider reads', spec: certificate({ secretRef: { name: 'tls' } }), field: 'spec.certificate.secretRef', refusedBy: 'rule', message: /both or neither/ },
  { title: 'the Secret that is written from it', spec: certificate({ provider: 'Secret', secretRef: { name: 'sidecar-injector-bad-serving' } }), field: 'spec.certificate.secretRef.name', refusedBy: 'rule', message: /written by the operator/ },
  { title: 'a leaf of seconds', spec: certificate({ leafDuration: '59s' }), field: 'spec.certificate.leafDuration', refusedBy: 'rule', message: /1m at least/ },
  { title: 'a leaf that outlives its authority', spec: certificate({ leafDuration: '8760h' }), field: 'spec.certificate.caDuration', refusedBy: 'rule', message: /longer than leafDuration/ },
  { title: 'an authority of two centuries', spec: certificate({ caDuration: '999999h' }), field: 'spec.certificate.caDuration', refusedBy: 'rule', message: /100 years/ },
  { title: 'no time to publish the next authority', spec: certificate({ leafDuration: '1m', caDuration: '2m' }), field: 'spec.certificate.caDuration', refusedBy: 'rule', message: /leave more than confirmationPeriod/ },
  { title: 'an authority that is due again before its successor may sign', spec: certificate({ confirmationPeriod: '3000h' }), field: 'spec.certificate.caDuration', refusedBy: 'rule', message: /leave more than confirmationPeriod/ },
  { title: 'a confirmation of seconds', spec: certificate({ confirmationPeriod: '9s' }), field: 'spec.certificate.confirmationPeriod', refusedBy: 'rule', message: /10s at least/ },
  // --- only the validating webhook and reconcile
  { title: 'a default template that does not exist', spec: { injection: { templates: { hello: 'x' } } }, field: 'spec.injection.defaultTemplates', refusedBy: 'webhook', message: /"sidecar".*have hello/ },
  { title: 'an alias of an alias', spec: injection({ aliases: { a: ['sidecar'], b: ['a'] } }), field: 'spec.injection.aliases.b', refusedBy: 'webhook', message: /"a".*have sidecar/ },
  { title: 'an annotation with a space', spec: injection({ injectedAnnotations: { 'a b': 'c' } }), field: 'spec.injection.injectedAnnotations', refusedBy: 'webhook', message: /"a b" is not an annotation name/ },
  { title: 'In without values', spec: injection({ neverInjectSelector: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] }), field: 'spec.injection.neverInjectSelector[0].matchExpressions[0].values', refusedBy: 'webhook', message: /at least one value/ },
  { title: 'Exists with values', spec: webhook({ selection: 'Custom', objectSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } }), field: 'spec.webhook.objectSelector.matchExpressions[0].values', refusedBy: 'webhook', message: /takes no values/ },
  { title: 'a label name with a space', spec: webhook({ selection: 'Custom', namespaceSelector: { matchLabels: { 'a b': 'c' } } }), field: 'spec.webhook.namespaceSelector.matchLabels', refusedBy: 'webhook', message: /"a b" is not a label name/ },
  { title: 'a configuration too large for a ConfigMap', spec: { injection: { templates: { sidecar: 'x'.repeat(500_000), gateway: 'y'.repeat(450_000) } } }, field: 'spec.injection', refusedBy: 'webhook', message: /templates 928.*900 KiB/ },
];
