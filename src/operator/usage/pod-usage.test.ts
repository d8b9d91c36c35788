import assert from 'node:assert/strict';
import fc from 'fast-check';
import { istioKeys } from '../../api/webhook-keys.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import { selectorsOf } from '../../manifests/webhook-selectors.ts';
import type { PodRecord } from '../pod-record.ts';
import { claimedPods, type Claimant } from './claimant.ts';
import { familyName, judgePod } from './judge-pod.ts';
import { PodGroups } from './pod-group.ts';
import type { PodTraits } from './pod-traits.ts';
import { PodUsage } from './pod-usage.ts';

const logKeys = { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' };
const rules: DecisionRules = {
  policy: 'enabled',
  neverInject: [],
  alwaysInject: [],
  ignoredNamespaces: new Set(),
  injectKey: istioKeys.inject,
};

function claimant(
  injectorConfig: string,
  {
    hash,
    tag,
    keys = istioKeys,
    auto = false,
    isConditional = false,
    canary,
  }: {
    hash?: string | undefined;
    tag?: string;
    keys?: typeof istioKeys;
    auto?: boolean;
    isConditional?: boolean;
    canary?: Claimant['canary'];
  },
): Claimant {
  const revision = tag ?? injectorConfig;
  const terms = { revision, keys, isDefault: revision === 'default', enableNamespacesByDefault: auto };
  return {
    id: tag === undefined ? injectorConfig : `tag-${tag}`,
    injectorConfig,
    ...(tag === undefined ? {} : { tag }),
    keys,
    hash,
    since: 0,
    isConditional,
    ...(canary === undefined || tag === undefined || hash === undefined ? {} : { canary }),
    claims: selectorsOf(terms, ['kube-system']).map(claimedPods),
  };
}

/** A pod as a store keeps it. */
class Pods {
  readonly #groups = new PodGroups();
  record(name: string, traits: Partial<PodTraits> = {}): PodRecord {
    const group = this.#groups.of({
      namespace: 'shop',
      workload: { kind: 'Deployment', name: 'web' },
      hostNetwork: false,
      labels: {},
      annotations: {},
      injectedBy: '',
      ...traits,
    });
    const { namespace } = group.traits;
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, group, createdAt: 1 };
  }
}

const by = (injectedBy: string): Partial<PodTraits> => {
  return { injectedBy, annotations: { [istioKeys.status]: '{' } };
};

/** Everything that a usage says, as text. */
function told(usage: PodUsage): string[] {
  const subjects = usage.subjects().map((name) => {
    const { counts, users, groups, namespaces } = usage.subject(name)!;
    const states = [...groups]
      .map(([{ traits, pods }, state]) => `${traits.workload.name}×${pods.size}:${state}`)
      .sort();
    return `${name} ${JSON.stringify(counts)} users ${users} [${[...namespaces.keys()].sort().join()}] ${states.join()}`;
  });
  const places = usage
    .places()
    .map(({ injectorConfig, tag, counts }) => `at ${injectorConfig}/${tag} ${JSON.stringify(counts)}`);
  const namespaces = [...usage.namespaces()].map(([name, counts]) => `in ${name} ${JSON.stringify(counts)}`);
  return [...subjects, ...places, ...namespaces].sort();
}

describe('PodUsage', () => {
  it('counts pods at who injected them, and by the tag that they follow', () => {
    const usage = new PodUsage();
    const pods = new Pods();
    for (const name of ['old', 'new']) usage.setFamily(name, istioKeys);
    usage.setClaimant('old', claimant('old', { hash: 'aaaaaaaa' }));
    usage.setClaimant('new', claimant('new', { hash: 'bbbbbbbb' }));
    usage.setClaimant('tag-prod', claimant('old', { hash: 'aaaaaaaa', tag: 'prod' }));
    usage.setRules('old', 'aaaaaaaa', rules);
    usage.setNamespace('shop', { 'istio.io/rev': 'prod' });
    for (const name of ['a', 'b']) usage.setPod(undefined, pods.record(name, by('old.aaaaaaaa')));
    usage.setPod(undefined, pods.record('c', by('old.00000000')));
    usage.setPod(undefined, pods.record('d'));
    assert.deepEqual(usage.subject('InjectorConfig/old')!.counts, { current: 2, stale: 1, missing: 1 });
    assert.deepEqual(usage.subject('RevisionTag/prod')!.counts, { current: 2, stale: 1, missing: 1 });
    assert.equal(usage.subject('InjectorConfig/new'), undefined);

    usage.setRules('new', 'bbbbbbbb', rules);
    usage.setClaimant('tag-prod', claimant('new', { hash: 'bbbbbbbb', tag: 'prod' }));
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
      usage.setClaimant(name, claimant(name, { hash: 'aaaaaaaa' }));
      usage.setNamespace(name, { 'istio.io/rev': name });
      usage.setPod(undefined, pods.record(`in-${name}`, { ...by(`${name}.aaaaaaaa`), namespace: name }));
    }
    const [one, two, three] = ['InjectorConfig/one', 'InjectorConfig/two', 'InjectorConfig/three'];
    assert.deepEqual(
      during(() => {
        usage.setClaimant('one', { ...claimant('one', { hash: 'bbbbbbbb' }) });
      }),
      [one],
    );
    assert.deepEqual(
      during(() => {
        usage.setNamespace('two', { 'istio.io/rev': 'three' });
      }),
      [three, two],
    );
    assert.deepEqual(
      during(() => {
        usage.setPod(undefined, pods.record('more', { namespace: 'one' }));
      }),
      [],
    );
    assert.deepEqual(
      during(() => {
        usage.setPod(undefined, pods.record('again', { ...by('three.aaaaaaaa'), namespace: 'three' }));
      }),
      [three],
    );
    assert.deepEqual(
      during(() => {
        usage.setClaimant('three', undefined);
      }),
      [three, two],
    );
  });

  it('asks for rules once, and judges when it has them', () => {
    const wanted: string[] = [];
    const usage = new PodUsage({ rulesWanted: (name, hash) => wanted.push(`${name}.${hash}`) });
    const pods = new Pods();
    usage.setFamily('old', istioKeys);
    usage.setClaimant('old', claimant('old', { hash: 'aaaaaaaa' }));
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
    usage.setClaimant('tag-prod', claimant('old', { hash: 'aaaaaaaa', tag: 'prod' }));
    usage.setNamespace('shop', { 'istio.io/rev': 'prod' });
    const [one, other] = [pods.record('a', by('old.aaaaaaaa')), pods.record('b', by('old.aaaaaaaa'))];
    for (const pod of [one, other]) usage.setPod(undefined, pod);
    usage.setPod(one, undefined);
    usage.setClaimant('tag-prod', claimant('old', { hash: 'bbbbbbbb', tag: 'prod' }));
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
    usage.setClaimant('old', claimant('old', { hash: 'aaaaaaaa' }));
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

  /** Words of a history. */
  const hash = fc.constantFrom('aaaaaaaa', 'bbbbbbbb');
  const config = fc.constantFrom('default', 'one', 'two', 'logs');
  const value = fc.constantFrom('one', 'two', 'prod', 'other');
  const inject = fc.constantFrom('true', 'false', 'maybe');
  const keysOf = (name: string) => (name === 'logs' ? logKeys : istioKeys);
  const namespaceLabels = fc.record(
    {
      'istio-injection': fc.constantFrom('enabled', 'disabled'),
      'istio.io/rev': value,
      'logs/rev': fc.constant('logs'),
    },
    { requiredKeys: [] },
  );
  const traits = fc.record({
    namespace: fc.constantFrom('shop', 'bank'),
    workload: fc.record({ kind: fc.constant('Deployment'), name: fc.constantFrom('web', 'api') }),
    hostNetwork: fc.boolean(),
    labels: fc.record(
      { 'istio.io/rev': value, 'sidecar.istio.io/inject': inject, 'logs/rev': fc.constant('logs') },
      { requiredKeys: [] },
    ),
    annotations: fc.record(
      {
        'sidecar.istio.io/inject': inject,
        'sidecar.istio.io/status': fc.constant('{'),
        'logs/status': fc.constant('{'),
      },
      { requiredKeys: [] },
    ),
    injectedBy: fc
      .array(
        fc.tuple(fc.constantFrom('default', 'one', 'two', 'logs', 'gone'), hash).map((each) => each.join('.')),
        { maxLength: 3 },
      )
      .map((each) => each.join()),
  });
  /** What pods of a cluster mostly are, so that several are alike. */
  const usual = fc.constantFrom<Partial<PodTraits>>(
    {},
    { labels: { 'istio.io/rev': 'one' } },
    by('one.aaaaaaaa'),
    by('two.bbbbbbbb'),
  );
  const mostly = fc.nat(4).map((each) => each > 0);
  const terms = {
    hash: fc.option(hash, { nil: undefined }),
    isConditional: fc.nat(9).map((each) => each === 0),
    auto: fc.boolean(),
    canary: fc.option(
      fc.record({
        injectorConfig: fc.constantFrom('default', 'one', 'two'),
        hash,
        threshold: fc.constant('8000000000000000'),
      }),
      { nil: undefined, freq: 1 },
    ),
  };
  const event = fc.oneof(
    {
      arbitrary: fc.record({
        what: fc.constant('pod' as const),
        name: fc.constantFrom('a', 'b', 'c', 'd'),
        traits: fc.option(fc.oneof({ arbitrary: usual, weight: 2 }, traits), { nil: undefined, freq: 4 }),
      }),
      weight: 5,
    },
    fc.record({
      what: fc.constant('namespace' as const),
      name: fc.constantFrom('shop', 'bank'),
      labels: fc.option(namespaceLabels, { nil: undefined, freq: 6 }),
    }),
    fc.record({ what: fc.constant('config' as const), name: config, isThere: mostly, ...terms }),
    fc.record({
      what: fc.constant('tag' as const),
      name: fc.constantFrom('prod', 'default'),
      to: config,
      isThere: mostly,
      ...terms,
    }),
    fc.record({ what: fc.constant('family' as const), name: config, isThere: mostly }),
    fc.record({ what: fc.constant('rules' as const), name: config, hash }),
  );

  it('says after any history what a count from the beginning says, by asking everybody', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 8, maxLength: 60, size: 'max' }), (history) => {
        const usage = new PodUsage();
        const pods = new Pods();
        const namespaces = new Map<string, Record<string, string>>();
        const there = new Map<string, PodRecord>();
        const claimants = new Map<string, Claimant>();
        const families = new Set<string>();
        const known = new Set<string>();
        const claim = (id: string, next: Claimant | undefined): void => {
          const before = claimants.get(id);
          // Selectors that have not changed are the same object, as they are for a webhook that only moves.
          const isMoved = JSON.stringify(before?.claims) === JSON.stringify(next?.claims);
          const taken =
            next !== undefined &&
            before !== undefined &&
            isMoved &&
            before.keys === next.keys &&
            before.tag === next.tag
              ? { ...next, claims: before.claims }
              : next;
          usage.setClaimant(id, taken);
          if (taken === undefined) claimants.delete(id);
          else claimants.set(id, taken);
        };
        for (const each of history) {
          switch (each.what) {
            case 'pod': {
              const key = each.name;
              const before = there.get(key);
              const after = each.traits && pods.record(key, each.traits);
              // A pod that moves to another namespace is another pod.
              if (before?.metadata.namespace !== after?.metadata.namespace) {
                usage.setPod(before, undefined);
                usage.setPod(undefined, after);
              } else usage.setPod(before, after);
              if (after === undefined) there.delete(key);
              else there.set(key, after);
              break;
            }
            case 'namespace':
              usage.setNamespace(each.name, each.labels);
              if (each.labels === undefined) namespaces.delete(each.name);
              else namespaces.set(each.name, each.labels);
              break;
            case 'config':
              claim(each.name, each.isThere ? claimant(each.name, { ...each, keys: keysOf(each.name) }) : undefined);
              break;
            case 'tag':
              claim(
                `tag-${each.name}`,
                each.isThere ? claimant(each.to, { ...each, tag: each.name, keys: keysOf(each.to) }) : undefined,
              );
              break;
            case 'family':
              usage.setFamily(each.name, each.isThere ? keysOf(each.name) : undefined);
              if (each.isThere) families.add(each.name);
              else families.delete(each.name);
              break;
            case 'rules':
              usage.setRules(each.name, each.hash, rules);
              known.add(`${each.name}.${each.hash}`);
          }
        }
        for (const name of known) {
          const [config = '', of = ''] = name.split('.');
          usage.setRules(config, of, rules);
        }

        const takersOf = (labels: Readonly<Record<string, string>>, podLabels: Readonly<Record<string, string>>) =>
          [...claimants.values()].filter(({ claims }) =>
            claims.some((each) => each.namespace(labels) && each.pod(podLabels)),
          );
        const expected = {
          states: new Map<string, number>(),
          users: new Map<string, number>(),
          named: new Set<string>(),
        };
        const add = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
        for (const { group } of there.values()) {
          const labels = namespaces.get(group!.traits.namespace);
          if (labels === undefined) continue;
          const judgements = judgePod(group!.traits, labels, {
            claimants: { takersOf },
            familyOf: (name) => (families.has(name) ? familyName(keysOf(name)) : undefined),
            rulesOf: ({ injectorConfig, hash: of = '' }) => (known.has(`${injectorConfig}.${of}`) ? rules : undefined),
          });
          for (const { state, injectorConfig, taker, isUser } of judgements) {
            if (!isUser) continue;
            const isCounted = state !== 'none' && state !== 'undecided';
            if (isCounted) add(expected.states, `InjectorConfig/${injectorConfig} ${state}`);
            for (const user of new Set([injectorConfig, taker?.injectorConfig ?? injectorConfig]))
              add(expected.users, `InjectorConfig/${user}`);
            if (taker?.tag === undefined) continue;
            if (isCounted) add(expected.states, `RevisionTag/${taker.tag} ${state}`);
            add(expected.users, `RevisionTag/${taker.tag}`);
          }
        }
        for (const [name, labels] of namespaces) {
          for (const { claims, injectorConfig, tag, canary } of claimants.values()) {
            if (!claims.some((each) => each.isByNamespace && each.namespace(labels))) continue;
            expected.named.add(`InjectorConfig/${injectorConfig} ${name}`);
            if (canary !== undefined) expected.named.add(`InjectorConfig/${canary.injectorConfig} ${name}`);
            if (tag !== undefined) expected.named.add(`RevisionTag/${tag} ${name}`);
          }
        }
        const actual = {
          states: new Map<string, number>(),
          users: new Map<string, number>(),
          named: new Set<string>(),
        };
        for (const name of usage.subjects()) {
          const { counts, users, namespaces: named } = usage.subject(name)!;
          for (const [state, count] of Object.entries(counts))
            if (count > 0) actual.states.set(`${name} ${state}`, count);
          if (users > 0) actual.users.set(name, users);
          for (const each of named.keys()) actual.named.add(`${name} ${each}`);
        }
        const sorted = (from: typeof actual) => [
          [...from.states].sort(),
          [...from.users].sort(),
          [...from.named].sort(),
        ];
        assert.deepEqual(sorted(actual), sorted(expected));

        // And what another one says that was told the end alone.
        const fresh = new PodUsage();
        for (const name of families) fresh.setFamily(name, keysOf(name));
        for (const [id, each] of claimants) fresh.setClaimant(id, each);
        for (const name of known) fresh.setRules(name.split('.')[0] ?? '', name.split('.')[1] ?? '', rules);
        for (const [name, labels] of namespaces) fresh.setNamespace(name, labels);
        for (const pod of there.values())
          fresh.setPod(undefined, new Pods().record(pod.metadata.name ?? '', pod.group!.traits));
        // Pods that are told apart in the fresh one are the same workloads.
        const summed = (lines: string[]) => lines.filter((line) => !line.includes('users'));
        assert.deepEqual(summed(told(usage)), summed(told(fresh)));
      }),
      { numRuns: 1000 },
    );
  });
});
