import assert from 'node:assert/strict';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { PodUsage } from './pod-usage.ts';
import { by, selectingWebhook, Pods, rules, told } from './testdata/counted-pods.ts';

describe('PodUsage', () => {
  it('counts pods at who injected them, and by the tag that they follow', () => {
    const usage = new PodUsage();
    const pods = new Pods();
    for (const name of ['old', 'new']) usage.setFamily(name, istioKeys);
    usage.setWebhook('old', selectingWebhook('old', { hash: 'aaaaaaaa' }));
    usage.setWebhook('new', selectingWebhook('new', { hash: 'bbbbbbbb' }));
    usage.setWebhook('tag-prod', selectingWebhook('old', { hash: 'aaaaaaaa', tag: 'prod' }));
    usage.setRules('old', 'aaaaaaaa', rules);
    usage.setNamespace('shop', { 'istio.io/rev': 'prod' });
    for (const name of ['a', 'b']) usage.setPod(undefined, pods.record(name, by('old.aaaaaaaa')));
    usage.setPod(undefined, pods.record('c', by('old.00000000')));
    usage.setPod(undefined, pods.record('d'));
    assert.deepEqual(usage.subject('InjectorConfig/old')!.counts, { current: 2, stale: 1, missing: 1 });
    assert.deepEqual(usage.subject('RevisionTag/prod')!.counts, { current: 2, stale: 1, missing: 1 });
    assert.equal(usage.subject('InjectorConfig/new'), undefined);

    usage.setRules('new', 'bbbbbbbb', rules);
    usage.setWebhook('tag-prod', selectingWebhook('new', { hash: 'bbbbbbbb', tag: 'prod' }));
    assert.deepEqual(usage.subject('InjectorConfig/old')!.counts, { current: 0, stale: 3, missing: 0 });
    assert.deepEqual(usage.subject('InjectorConfig/new')!.counts, { current: 0, stale: 0, missing: 1 });
    assert.equal(usage.subject('InjectorConfig/new')!.users, 4);
    assert.deepEqual(usage.subject('RevisionTag/prod')!.counts, { current: 0, stale: 3, missing: 1 });
    assert.deepEqual([...usage.subject('RevisionTag/prod')!.namespaces.keys()], ['shop']);
    assert.deepEqual([...usage.namespaces()], [['shop', { current: 0, stale: 3, missing: 1 }]]);
  });

  it('touches nothing but what a change concerns', () => {
    let changed = new Set<string>();
    const during = (change: () => void): string[] => {
      changed = new Set();
      change();
      return [...changed].sort();
    };
    const usage = new PodUsage({ changed: (subject) => changed.add(subject) });
    const pods = new Pods();
    for (const name of ['one', 'two', 'three']) {
      usage.setFamily(name, istioKeys);
      usage.setWebhook(name, selectingWebhook(name, { hash: 'aaaaaaaa' }));
      usage.setNamespace(name, { 'istio.io/rev': name });
      usage.setPod(undefined, pods.record(`in-${name}`, { ...by(`${name}.aaaaaaaa`), namespace: name }));
    }
    const [one = '', two = '', three = ''] = ['one', 'two', 'three'].map((name) => `InjectorConfig/${name}`);
    const again = pods.record('again', { ...by('three.aaaaaaaa'), namespace: 'three' });
    const changes: [change: () => void, concerns: string[]][] = [
      [usage.setWebhook.bind(usage, 'one', selectingWebhook('one', { hash: 'bbbbbbbb' })), [one]],
      [usage.setNamespace.bind(usage, 'two', { 'istio.io/rev': 'three' }), [three, two]],
      [usage.setPod.bind(usage, undefined, pods.record('more', { namespace: 'one' })), []],
      [usage.setPod.bind(usage, undefined, again), [three]],
      [usage.setWebhook.bind(usage, 'three', undefined), [three, two]],
    ];
    for (const [change, concerns] of changes) assert.deepEqual(during(change), concerns);
  });

  it('asks for rules once, and judges when it has them', () => {
    const wanted: string[] = [];
    const usage = new PodUsage({ rulesWanted: (name, hash) => wanted.push(`${name}.${hash}`) });
    const pods = new Pods();
    usage.setFamily('old', istioKeys);
    usage.setWebhook('old', selectingWebhook('old', { hash: 'aaaaaaaa' }));
    usage.setNamespace('shop', { 'istio.io/rev': 'old' });
    usage.setPod(undefined, pods.record('a'));
    usage.setPod(undefined, pods.record('b', { workload: { kind: 'Job', name: 'other' } }));
    assert.deepEqual(wanted, ['old.aaaaaaaa']);
    assert.equal(usage.subject('InjectorConfig/old')!.users, 0);
    usage.setRules('old', 'aaaaaaaa', rules);
    assert.deepEqual(usage.subject('InjectorConfig/old')!.counts, { current: 0, stale: 0, missing: 2 });
    usage.setRules('old', 'aaaaaaaa', { ...rules, policy: 'disabled' });
    assert.equal(usage.subject('InjectorConfig/old')!.counts.missing, 2, 'rules of a hash never change');
  });

  it('tells when the last of equal pods has gone that followed somebody, and nothing when they follow somebody else', () => {
    const left: string[] = [];
    const usage = new PodUsage({ left: (subject, { traits }) => left.push(`${subject} ${traits.workload.name}`) });
    const pods = new Pods();
    usage.setFamily('old', istioKeys);
    usage.setWebhook('tag-prod', selectingWebhook('old', { hash: 'aaaaaaaa', tag: 'prod' }));
    usage.setNamespace('shop', { 'istio.io/rev': 'prod' });
    const [one, other] = [pods.record('a', by('old.aaaaaaaa')), pods.record('b', by('old.aaaaaaaa'))];
    for (const pod of [one, other]) usage.setPod(undefined, pod);
    usage.setPod(one, undefined);
    usage.setWebhook('tag-prod', selectingWebhook('old', { hash: 'bbbbbbbb', tag: 'prod' }));
    assert.deepEqual(left, []);
    usage.setPod(other, undefined);
    assert.deepEqual(left, ['InjectorConfig/old web', 'RevisionTag/prod web']);
    usage.setPod(undefined, one);
    usage.setNamespace('shop', {});
    usage.setPod(one, undefined);
    assert.deepEqual(left.slice(2), ['InjectorConfig/old web'], 'it does not follow the tag any more');
  });

  it('judges the pods of a namespace when it has seen it', () => {
    const usage = new PodUsage();
    usage.setFamily('old', istioKeys);
    usage.setWebhook('old', selectingWebhook('old', { hash: 'aaaaaaaa' }));
    const pod = new Pods().record('a', by('old.aaaaaaaa'));
    usage.setPod(undefined, pod);
    assert.deepEqual(told(usage), []);
    usage.setNamespace('shop', {});
    assert.equal(usage.subject('InjectorConfig/old')!.counts.stale, 1);
    usage.setNamespace('shop', undefined);
    assert.deepEqual(told(usage), []);
    usage.setPod(pod, undefined);
    assert.deepEqual(told(usage), []);
  });
});
