import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { type IstioFacts, planAdoption } from './plan-adoption.ts';
import { istioRevision, istioWebhook, joined } from './testdata/istio-cluster.ts';

const standby = {
  takeover: true,
  matchConditions: [
    {
      name: 'not-injected-by-istio',
      expression: "!(has(object.metadata.annotations) && 'sidecar.istio.io/status' in object.metadata.annotations)",
    },
  ],
};

/** Returns the names and specs of the planned objects; requires that nothing is refused. */
function specsOf(facts: IstioFacts): [kind: string, name: string, spec: unknown][] {
  const { objects, refusals } = planAdoption(facts);
  assert.deepEqual(refusals, []);
  return objects.map(({ kind, metadata, spec }) => [kind, metadata.name ?? '', spec]);
}

function withTag(facts: IstioFacts, ...tags: readonly KubernetesObject[]): IstioFacts {
  return { ...facts, configurations: [...facts.configurations, ...tags] };
}

/** Returns a webhook configuration that also excludes namespaces. */
function excluding(configuration: KubernetesObject, namespace: string, more: readonly object[] = []): KubernetesObject {
  const webhooks = configuration.webhooks as { namespaceSelector: { matchExpressions: object[] } }[];
  const others = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [namespace, 'kube-system'] };
  return {
    ...configuration,
    webhooks: webhooks.map((webhook) => {
      const { matchExpressions } = webhook.namespaceSelector;
      return { ...webhook, namespaceSelector: { matchExpressions: [...matchExpressions, others, ...more] } };
    }),
  };
}

/** Returns where the table says that a setting goes. */
function rowOf(facts: IstioFacts, setting: string): string[] {
  return planAdoption(facts)
    .settings.filter((row) => row.setting === setting)
    .map(({ value, goesTo }) => `${value} → ${goesTo}`);
}

describe('planAdoption', () => {
  const reference = (revision = '') => ({
    configFrom: { namespace: 'istio-system', name: `istio-sidecar-injector${revision}`, key: 'config' },
    meshConfigFrom: { namespace: 'istio-system', name: `istio${revision}`, key: 'mesh' },
  });

  it('plans the default revision of Istio’s chart', () => {
    assert.deepEqual(specsOf(istioRevision()), [
      ['InjectorConfig', 'default', { injection: reference(), webhook: standby }],
    ]);
  });

  it('plans revisions and tags, and no object for webhooks that are deactivated', () => {
    const off = { namespaceSelector: { matchLabels: { 'istio.io/deactivated': 'never-match' } } };
    const blue = { revision: '1-24' };
    const facts = joined(istioRevision({ webhook: off }), istioRevision(blue));
    const tags = [istioWebhook({ ...blue, byDefault: true }, 'default'), istioWebhook(blue, 'prod')];
    assert.deepEqual(specsOf(withTag(facts, ...tags)), [
      ['InjectorConfig', '1-24', { injection: reference('-1-24'), webhook: standby }],
      ['RevisionTag', 'default', { revision: '1-24', enableNamespacesByDefault: true }],
      ['RevisionTag', 'prod', { revision: '1-24' }],
    ]);
    assert.deepEqual(rowOf(facts, 'MutatingWebhookConfiguration istio-sidecar-injector'), [
      'deactivated → nothing: its webhooks select no pod',
    ]);
  });

  it('maps every field of the webhook', () => {
    const condition = { name: 'not-batch', expression: 'true' };
    const fields = { failurePolicy: 'Ignore', timeoutSeconds: 5, reinvocationPolicy: 'IfNeeded', matchPolicy: 'Exact' };
    const facts = istioRevision({
      webhook: { ...fields, matchConditions: [condition] },
      path: '/inject/cluster/c1/net/n1',
      byDefault: true,
    });
    const [[, , spec] = []] = specsOf(facts);
    assert.deepEqual(spec, {
      injection: { ...reference(), enableNamespacesByDefault: true },
      webhook: {
        ...fields,
        pathEnvironment: { ISTIO_META_CLUSTER_ID: 'c1', ISTIO_META_NETWORK: 'n1' },
        takeover: true,
        matchConditions: [condition, ...standby.matchConditions],
      },
    });
  });

  it('keeps excluded namespaces, and leaves out what AKS adds', () => {
    const { configurations, ...others } = istioRevision();
    const aks = { key: 'kubernetes.azure.com/managedby', operator: 'NotIn', values: ['aks'] };
    const [configuration] = configurations;
    const facts = { ...others, configurations: [excluding(configuration!, 'legacy', [aks])] };
    const [[, , spec] = []] = specsOf(facts);
    assert.deepEqual((spec as { webhook: unknown }).webhook, { excludedNamespaces: ['legacy'], ...standby });
    assert.deepEqual(rowOf(facts, 'namespaceSelector'), [
      'not legacy → spec.webhook.excludedNamespaces',
      'kubernetes.azure.com/managedby → nothing: AKS also adds it to our webhooks',
    ]);
  });

  describe('finds the settings of istiod’s environment', () => {
    const variable = (name: string, value: string) => ({ name, value });
    const native = variable('ENABLE_NATIVE_SIDECARS', 'false');
    const ofValues = { global: { platform: 'openshift' }, pilot: { env: { ENABLE_NATIVE_SIDECARS: 'false' } } };
    const rows: [name: string, options: Parameters<typeof istioRevision>[0], fields: object][] = [
      ['nothing', {}, {}],
      [
        'variables that the values lack',
        { env: [native, variable('COMPLIANCE_POLICY', 'fips-140-3')] },
        { nativeSidecars: 'Disabled', compliancePolicy: 'fips-140-3' },
      ],
      ['variables that the values have', { env: [native, variable('PLATFORM', 'openshift')], values: ofValues }, {}],
      ['values that the environment lacks', { values: ofValues }, { nativeSidecars: 'Auto', platform: 'Kubernetes' }],
      [
        'the default of an older istiod',
        { image: 'docker.io/istio/pilot:1.26.2-distroless' },
        { nativeSidecars: 'Disabled' },
      ],
      [
        'the last of repeated variables',
        { env: [variable('PLATFORM', ''), variable('PLATFORM', 'openshift')] },
        { platform: 'OpenShift' },
      ],
      ['an image without a version', { image: 'registry:5000/pilot@sha256:00' }, {}],
    ];
    for (const [name, options, fields] of rows) {
      it(name, () => {
        const [[, , spec] = []] = specsOf(istioRevision(options));
        assert.deepEqual((spec as { injection: object }).injection, { ...reference(), ...fields });
      });
    }

    it('and says where they go', () => {
      const facts = istioRevision({ env: [variable('PLATFORM', 'openshift'), native], values: ofValues });
      assert.deepEqual(rowOf(facts, 'variable ENABLE_NATIVE_SIDECARS'), [
        '"false" → read from the values: pilot.env.ENABLE_NATIVE_SIDECARS',
      ]);
      assert.deepEqual(rowOf(facts, 'variable COMPLIANCE_POLICY'), ['unset → the default']);
      assert.deepEqual(rowOf(facts, 'ranges of namespaces'), ['OpenShift → operator.openShift: true of our chart']);
    });
  });

  describe('refuses', () => {
    const late = istioWebhook();
    const named = (name: string) => ({ ...late, metadata: { ...late.metadata, name } });
    const facts = istioRevision();
    const clientConfig = (fields: object) => ({ clientConfig: { caBundle: 'Y2E=', ...fields } });
    const tag = istioWebhook({ path: '/inject/net/n2' }, 'prod');
    const templates = { sidecar: '\n{{ env "A" "b" }}' };
    const rows: [name: string, facts: IstioFacts, message: RegExp][] = [
      [
        'a webhook that sorts after ours',
        { ...facts, configurations: [named('z-istio')] },
        /z-istio sorts after sidecar-injector-default.*install Istio with/,
      ],
      [
        'an unhealthy istiod',
        istioRevision({ availableReplicas: 0 }),
        /Deployment istio-system\/istiod has no available replica; repair/,
      ],
      [
        'a webhook without a caBundle',
        istioRevision({ webhook: clientConfig({ caBundle: '', service: { namespace: 'istio-system' } }) }),
        /has no caBundle/,
      ],
      [
        'an istiod elsewhere',
        istioRevision({ webhook: clientConfig({ url: 'https://istiod.example/inject' }) }),
        /calls https:\/\/istiod\.example\/inject, and --istiod names no file .*-o yaml > istiod\.yaml/,
      ],
      ['another path', istioRevision({ path: '/other' }), /has path \/other/],
      [
        'templates that read istiod’s environment',
        istioRevision({ config: JSON.stringify({ templates }) }),
        /template sidecar of revision default reads the environment of istiod \(env, line 2, column 4\).*write the value/,
      ],
      [
        'a broken template',
        istioRevision({ config: 'templates: {sidecar: "{{ if }}"}' }),
        /revision default cannot be adopted: .*missing value for if/,
      ],
      [
        'a missing ConfigMap',
        { ...facts, configMaps: [] },
        /ConfigMap istio-system\/istio-sidecar-injector has no key config/,
      ],
      [
        'a missing Deployment',
        { ...facts, deployments: [] },
        /no Deployment with labels app=istiod and istio\.io\/rev=default/,
      ],
      [
        'variables from elsewhere',
        istioRevision({ env: [{ name: 'PLATFORM', valueFrom: {} }] }),
        /PLATFORM from valueFrom; write the value/,
      ],
      [
        'a second mesh configuration',
        istioRevision({ env: [{ name: 'SHARED_MESH_CONFIG', value: 'shared' }] }),
        /merges ConfigMap shared/,
      ],
      [
        'changed selectors',
        istioRevision({ webhook: { objectSelector: {} } }),
        /the selectors of webhook rev\.namespace\.\S+ in istio-sidecar-injector are not those/,
      ],
      [
        'a name that an InjectorConfig cannot have',
        istioRevision({ revision: 'tag-1' }),
        /InjectorConfig tag-1: metadata\.name must not begin with tag-/,
      ],
      [
        'a tag of an unknown revision',
        withTag(facts, istioWebhook({ revision: '1-9' }, 'prod')),
        /tag prod points to revision 1-9, which has no active webhook.*istioctl tag set prod/,
      ],
      [
        'a tag that excludes other namespaces',
        withTag(facts, excluding(istioWebhook({}, 'prod'), 'legacy')),
        /istio-revision-tag-prod excludes namespaces \(legacy\) that istio-sidecar-injector does not/,
      ],
      [
        'a tag with its own path',
        withTag(facts, tag),
        /istio-revision-tag-prod of tag prod does not call as istio-sidecar-injector/,
      ],
    ];
    for (const [name, cluster, message] of rows) {
      it(name, () => {
        assert.match(planAdoption(cluster).refusals.join('\n'), message);
      });
    }
  });

  it('plans nothing for webhooks of other namespaces and products', () => {
    const [webhook] = istioRevision().configurations;
    const plan = planAdoption({ ...istioRevision(), namespace: 'other' });
    assert.deepEqual(plan, { objects: [], settings: [], refusals: [] });
    const foreign = { ...webhook!, webhooks: [{ name: 'a.example.com', clientConfig: {} }] };
    assert.deepEqual(planAdoption({ ...istioRevision(), configurations: [foreign] }).settings, []);
  });
});
