import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { adoptionAnnotation } from '../../api/names.ts';
import { istio } from '../../selection/testdata/istio-webhook.ts';
import { type Adoption, adoptionOf, labelsBefore, relabeling, reverterOf, withAdoption } from './adoption.ts';

const moved = (...namespaces: string[]): Adoption => ({ namespaces, isDeactivated: false });
const nothing = moved();

/** Returns the names that the first webhook excludes by an added expression. */
function excludedBy(configuration: KubernetesObject): unknown {
  const [webhook] = configuration.webhooks as { namespaceSelector: { matchExpressions: { values: unknown }[] } }[];
  return webhook?.namespaceSelector.matchExpressions.at(-1)?.values;
}

describe("withAdoption changes Istio's webhooks, and back", () => {
  const before = istio();

  it('excludes namespaces, one after the other, and restores the object', () => {
    const one = withAdoption(before, moved('shop'));
    assert.deepEqual(excludedBy(one), ['shop']);
    assert.deepEqual(adoptionOf(one), moved('shop'));
    const two = withAdoption(one, moved('shop', 'mall'));
    assert.deepEqual(excludedBy(two), ['shop', 'mall']);
    const back = withAdoption(withAdoption(two, moved('mall')), nothing);
    assert.deepEqual(back, { ...before, metadata: { ...before.metadata, annotations: {} } });
  });

  it('keeps expressions of the chart for names of namespaces', () => {
    const own = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system'] };
    const chart = istio({ namespaceSelector: { matchExpressions: [own] } });
    const back = withAdoption(withAdoption(chart, moved('shop')), nothing);
    assert.deepEqual(back.webhooks, chart.webhooks);
  });

  it('deactivates the webhooks as istioctl does, and restores them with their namespaces', () => {
    const one = withAdoption(before, moved('shop'));
    const off = withAdoption(one, { namespaces: ['shop'], isDeactivated: true });
    const never = { matchLabels: { 'istio.io/deactivated': 'never-match' } };
    const [webhook] = off.webhooks as Record<string, unknown>[];
    assert.deepEqual([webhook?.namespaceSelector, webhook?.objectSelector], [never, never]);
    assert.deepEqual(adoptionOf(off), { namespaces: ['shop'], isDeactivated: true });
    assert.deepEqual(withAdoption(off, moved('shop')), one);
  });

  it('forgets what it took when the chart was applied again, and takes the new selectors for the original', () => {
    const one = withAdoption(before, moved('shop'));
    const newer = istio({ namespaceSelector: { matchLabels: { 'istio-injection': 'enabled' } } });
    const again = { ...newer, metadata: one.metadata };
    assert.deepEqual(adoptionOf(again), nothing);
    const next = withAdoption(again, moved('mall'));
    assert.deepEqual(excludedBy(next), ['mall']);
    assert.deepEqual(withAdoption(next, nothing).webhooks, newer.webhooks);
  });

  it('ignores an annotation that is no record', () => {
    for (const text of ['', '[]', '{"namespaces":"shop"}', '{"namespaces":["shop"],"selectors":7}']) {
      const forged = istio({}, { annotations: { [adoptionAnnotation]: text } });
      assert.deepEqual(adoptionOf(forged).namespaces, []);
      assert.deepEqual(excludedBy(withAdoption(forged, moved('mall'))), ['mall']);
    }
  });
});

describe('relabeling moves a namespace, and labelsBefore undoes it', () => {
  const namespace = (metadata: Record<string, unknown>): KubernetesObject => {
    return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', ...metadata } };
  };
  const enabled = JSON.stringify({ 'istio-injection': 'enabled', 'istio.io/rev': null });

  it('replaces both labels in one patch, and records them', () => {
    assert.deepEqual(relabeling(namespace({ labels: { 'istio-injection': 'enabled' } }), 'adopted'), {
      labels: { 'istio-injection': null, 'istio.io/rev': 'adopted' },
      annotations: { [adoptionAnnotation]: enabled },
    });
  });

  it('keeps the first record', () => {
    const again = namespace({ labels: { 'istio.io/rev': 'adopted' }, annotations: { [adoptionAnnotation]: enabled } });
    assert.deepEqual((relabeling(again, 'next') as { annotations: object }).annotations, {
      [adoptionAnnotation]: enabled,
    });
    assert.deepEqual(labelsBefore(again), {
      labels: { 'istio-injection': 'enabled', 'istio.io/rev': null },
      annotations: { [adoptionAnnotation]: null },
    });
  });

  it('undoes nothing without a record', () => {
    assert.equal(labelsBefore(namespace({ labels: { 'istio-injection': 'enabled' } })), undefined);
  });
});

describe('reverterOf names what would revert a change', () => {
  const applied = (field: string, operation = 'Apply') => ({
    managedFields: [{ manager: 'istioctl', operation, fieldsV1: { [`f:${field}`]: {} } }],
  });
  const cases: [what: string, metadata: Record<string, unknown>, expected: RegExp | undefined][] = [
    ['nothing', {}, undefined],
    ["Helm's annotations", { annotations: { 'meta.helm.sh/release-name': 'istiod' } }, undefined],
    ['an owner, such as of Sail', { ownerReferences: [{ kind: 'IstioRevision', name: 'v1' }] }, /IstioRevision v1/],
    ["Argo CD's annotation", { annotations: { 'argocd.argoproj.io/tracking-id': 'x' } }, /^Argo CD$/],
    ["Argo CD's manager", { managedFields: [{ manager: 'argocd-controller', operation: 'Update' }] }, /^Argo CD$/],
    ["Flux's label", { labels: { 'helm.toolkit.fluxcd.io/name': 'istiod' } }, /^Flux$/],
    ['server-side apply of the fields', applied('webhooks'), /^istioctl, which applies it/],
    ['server-side apply of others', applied('labels'), undefined],
    ['an update of the fields', applied('webhooks', 'Update'), undefined],
  ];
  for (const [what, metadata, expected] of cases) {
    it(what, () => {
      const { metadata: named, ...object } = istio();
      const found = reverterOf({ ...object, metadata: { ...named, ...metadata } }, ['webhooks']);
      if (expected === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', expected);
    });
  }
});
