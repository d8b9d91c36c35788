import assert from 'node:assert/strict';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import {
  by,
  selectingWebhook,
  Pods,
  rules,
  describeUsage,
  EditedUsage,
  logKeys,
  subjects,
  usersOf,
} from './testdata/counted-pods.ts';
import { usageFigures } from './usage-figures.ts';
import fc from 'fast-check';
import type { PodRecord } from './pod-group.ts';
import {
  type CompiledSelectors,
  compileSelectors,
  type SelectingWebhook,
  webhooksSelecting,
} from '../../selection/selecting-webhook.ts';
import { familyMember, judgePod } from './judge-pod.ts';
import type { PodTraits } from './pod-traits.ts';

describe('PodUsage', () => {
  it('counts a pod for the InjectorConfig that injected it and for its tag', () => {
    const usage = new EditedUsage();
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
    assert.deepEqual(usage.subject('InjectorConfig/old').counts, { current: 2, stale: 1, missing: 1 });
    assert.deepEqual(usage.subject('RevisionTag/prod').counts, { current: 2, stale: 1, missing: 1 });
    assert.equal(usersOf(usage, 'InjectorConfig/new'), 0);

    usage.setRules('new', 'bbbbbbbb', rules);
    usage.setWebhook('tag-prod', selectingWebhook('new', { hash: 'bbbbbbbb', tag: 'prod' }));
    assert.deepEqual(usage.subject('InjectorConfig/old').counts, { current: 0, stale: 3, missing: 0 });
    assert.deepEqual(usage.subject('InjectorConfig/new').counts, { current: 0, stale: 0, missing: 1 });
    assert.equal(usersOf(usage, 'InjectorConfig/new'), 4);
    assert.deepEqual(usage.subject('RevisionTag/prod').counts, { current: 0, stale: 3, missing: 1 });
    assert.deepEqual(usage.subject('RevisionTag/prod').namespaces, ['shop']);
    const { namespaces } = usageFigures(usage.totals(), () => true);
    assert.deepEqual(namespaces, [{ namespace: 'shop', counts: { current: 0, stale: 3, missing: 1 } }]);
  });

  it('updates only the subjects that a change affects', () => {
    let changed = new Set<string>();
    const during = (change: () => void): string[] => {
      changed = new Set();
      change();
      return [...changed].sort();
    };
    const usage = new EditedUsage({ changed: (subject) => changed.add(subject) });
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

  it('requests rules once and judges pods when rules arrive', () => {
    const needed: string[] = [];
    const usage = new EditedUsage({ rulesNeeded: (name, hash) => needed.push(`${name}.${hash}`) });
    const pods = new Pods();
    usage.setFamily('old', istioKeys);
    usage.setWebhook('old', selectingWebhook('old', { hash: 'aaaaaaaa' }));
    usage.setNamespace('shop', { 'istio.io/rev': 'old' });
    usage.setPod(undefined, pods.record('a'));
    usage.setPod(undefined, pods.record('b', { workload: { kind: 'Job', name: 'other' } }));
    assert.deepEqual(needed, ['old.aaaaaaaa']);
    assert.equal(usersOf(usage, 'InjectorConfig/old'), 0);
    usage.setRules('old', 'aaaaaaaa', rules);
    assert.deepEqual(usage.subject('InjectorConfig/old').counts, { current: 0, stale: 0, missing: 2 });
    usage.setRules('old', 'aaaaaaaa', { ...rules, policy: 'disabled' });
    assert.equal(usage.subject('InjectorConfig/old').counts.missing, 2, 'rules of a hash never change');
  });

  it('reports when the last pod of a group is deleted, but not when a group follows another subject', () => {
    const left: string[] = [];
    const usage = new EditedUsage({ left: (subject, { traits }) => left.push(`${subject} ${traits.workload.name}`) });
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
    assert.deepEqual(left.slice(2), ['InjectorConfig/old web'], 'the group no longer follows the tag');
  });

  it('judges pods once their namespace is known', () => {
    const usage = new EditedUsage();
    usage.setFamily('old', istioKeys);
    usage.setWebhook('old', selectingWebhook('old', { hash: 'aaaaaaaa' }));
    const pod = new Pods().record('a', by('old.aaaaaaaa'));
    usage.setPod(undefined, pod);
    assert.deepEqual(describeUsage(usage), []);
    usage.setNamespace('shop', {});
    assert.equal(usage.subject('InjectorConfig/old').counts.stale, 1);
    usage.setNamespace('shop', undefined);
    assert.deepEqual(describeUsage(usage), []);
    usage.setPod(pod, undefined);
    assert.deepEqual(describeUsage(usage), []);
  });
});

describe('PodUsage, over random histories,', () => {
  /** The parts of a history. */
  const hash = fc.constantFrom('aaaaaaaa', 'bbbbbbbb');
  const config = fc.constantFrom('default', 'one', 'two', 'logs');
  const tag = fc.constantFrom('prod', 'default');
  const value = fc.constantFrom('one', 'two', 'prod', 'other');
  const inject = fc.constantFrom('true', 'false', 'maybe');
  const keysOf = (name: string) => (name === 'logs' ? logKeys : istioKeys);
  const optional = { requiredKeys: [] };
  const logs = { 'logs/rev': fc.constant('logs') };
  const injection = { 'istio-injection': fc.constantFrom('enabled', 'disabled') };
  const namespaceLabels = fc.record({ ...injection, 'istio.io/rev': value, ...logs }, optional);
  const statuses = { 'sidecar.istio.io/status': fc.constant('{'), 'logs/status': fc.constant('{') };
  const traits = fc.record({
    namespace: fc.constantFrom('shop', 'bank'),
    workload: fc.record({ kind: fc.constant('Deployment'), name: fc.constantFrom('web', 'api') }),
    hostNetwork: fc.boolean(),
    labels: fc.record({ 'istio.io/rev': value, 'sidecar.istio.io/inject': inject, ...logs }, optional),
    annotations: fc.record({ 'sidecar.istio.io/inject': inject, ...statuses }, optional),
    injectedBy: fc
      .array(
        fc.tuple(fc.constantFrom('default', 'one', 'two', 'logs', 'gone'), hash).map((each) => each.join('.')),
        { maxLength: 3 },
      )
      .map((each) => each.join()),
  });
  /** Frequent traits, so that pods form groups. */
  const labelled: Partial<PodTraits> = { labels: { 'istio.io/rev': 'one' } };
  const usual = fc.constantFrom({}, labelled, by('one.aaaaaaaa'), by('two.bbbbbbbb'));
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
  const byNamespace = compileSelectors({ namespaceSelector: { matchLabels: { 'istio-injection': 'enabled' } } });
  const byPod = compileSelectors({ objectSelector: { matchLabels: { 'istio.io/rev': 'one' } } });
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
    fc.record({ what: fc.constant('tag' as const), name: tag, to: config, isThere: mostly, ...terms }),
    fc.record({ what: fc.constant('family' as const), name: config, isThere: mostly }),
    fc.record({ what: fc.constant('rules' as const), name: config, hash }),
    fc.record({
      what: fc.constant('istios' as const),
      selectors: fc.constantFrom([], [byNamespace], [byNamespace, byPod]),
    }),
  );

  it('equals a full recount and a fresh instance after any history', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 8, maxLength: 60, size: 'max' }), (history) => {
        const usage = new EditedUsage();
        const pods = new Pods();
        const namespaces = new Map<string, Record<string, string>>();
        const stored = new Map<string, PodRecord>();
        const webhooks = new Map<string, SelectingWebhook>();
        const families = new Set<string>();
        const known = new Set<string>();
        let istios: readonly CompiledSelectors[] = [];
        const claim = (id: string, { isThere }: { isThere: boolean }, webhook: SelectingWebhook): void => {
          const next = isThere ? webhook : undefined;
          const before = webhooks.get(id);
          // Keep the same object for unchanged selectors, as for a webhook that only moves.
          const isMoved = JSON.stringify(before?.selectors) === JSON.stringify(next?.selectors);
          const isSame = isMoved && before?.keys === next?.keys && before?.tag === next?.tag;
          const taken = next && before && isSame ? { ...next, selectors: before.selectors } : next;
          usage.setWebhook(id, taken);
          if (taken === undefined) webhooks.delete(id);
          else webhooks.set(id, taken);
        };
        for (const each of history) {
          switch (each.what) {
            case 'pod': {
              const key = each.name;
              const before = stored.get(key);
              const after = each.traits && pods.record(key, each.traits);
              // A pod in another namespace is another pod.
              if (before?.metadata.namespace !== after?.metadata.namespace) {
                usage.setPod(before, undefined);
                usage.setPod(undefined, after);
              } else usage.setPod(before, after);
              if (after === undefined) stored.delete(key);
              else stored.set(key, after);
              break;
            }
            case 'namespace':
              usage.setNamespace(each.name, each.labels);
              if (each.labels === undefined) namespaces.delete(each.name);
              else namespaces.set(each.name, each.labels);
              break;
            case 'config':
              claim(each.name, each, selectingWebhook(each.name, { ...each, keys: keysOf(each.name) }));
              break;
            case 'tag': {
              const { to, name } = each;
              claim(`tag-${name}`, each, selectingWebhook(to, { ...each, tag: name, keys: keysOf(to) }));
              break;
            }
            case 'family':
              usage.setFamily(each.name, each.isThere ? keysOf(each.name) : undefined);
              if (each.isThere) families.add(each.name);
              else families.delete(each.name);
              break;
            case 'istios':
              istios = each.selectors;
              usage.setIstios(istios);
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

        const empty = () => ({
          states: new Map<string, number>(),
          users: new Map<string, number>(),
          named: new Set<string>(),
        });
        const expected = empty();
        const add = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
        for (const { group } of stored.values()) {
          const labels = namespaces.get(group!.traits.namespace);
          if (labels === undefined) continue;
          const selecting = webhooksSelecting([...webhooks.values()], labels, group!.traits.labels);
          const sources = {
            familyOf: (name: string) => (families.has(name) ? familyMember(keysOf(name), name) : undefined),
            rulesOf: ({ injectorConfig, hash: of = '' }: SelectingWebhook) =>
              known.has(`${injectorConfig}.${of}`) ? rules : undefined,
          };
          const isIstios = istios.some((each) => each.namespace(labels) && each.pod(group!.traits.labels));
          const judgements = judgePod(group!.traits, selecting, sources, isIstios);
          for (const { state, injectorConfig, selectedBy, isUser, isTaken } of judgements) {
            if (!isUser) continue;
            const use = (user: string): void => {
              if (isTaken !== true) add(expected.users, user);
            };
            const isCounted = state !== 'none' && state !== 'undecided';
            if (isCounted) add(expected.states, `InjectorConfig/${injectorConfig} ${state}`);
            for (const user of new Set([injectorConfig, selectedBy?.injectorConfig ?? injectorConfig]))
              use(`InjectorConfig/${user}`);
            if (selectedBy?.tag === undefined) continue;
            if (isCounted) add(expected.states, `RevisionTag/${selectedBy.tag} ${state}`);
            use(`RevisionTag/${selectedBy.tag}`);
          }
        }
        for (const [name, labels] of namespaces) {
          const isIstios = istios.some((each) => each.isByNamespace && each.namespace(labels));
          for (const { selectors, injectorConfig, tag, canary, keys } of webhooks.values()) {
            if (isIstios && keys === istioKeys) continue;
            if (!selectors.some((each) => each.isByNamespace && each.namespace(labels))) continue;
            expected.named.add(`InjectorConfig/${injectorConfig} ${name}`);
            if (canary !== undefined) expected.named.add(`InjectorConfig/${canary.injectorConfig} ${name}`);
            if (tag !== undefined) expected.named.add(`RevisionTag/${tag} ${name}`);
          }
        }
        const actual = empty();
        for (const name of subjects) {
          const { counts, namespaces: named } = usage.subject(name);
          const users = usersOf(usage, name);
          for (const [state, count] of Object.entries(counts))
            if (count > 0) actual.states.set(`${name} ${state}`, count);
          if (users > 0) actual.users.set(name, users);
          for (const each of named) actual.named.add(`${name} ${each}`);
        }
        const sorted = ({ states, users, named }: typeof actual) =>
          [[...states], [...users], [...named]].map((each) => each.sort());
        assert.deepEqual(sorted(actual), sorted(expected));

        // Compare with a fresh instance that gets only the final state.
        const fresh = new EditedUsage();
        const members = [...families].map((name) => [name, familyMember(keysOf(name), name)] as const);
        fresh.update({ webhooks, families: new Map(members), istios });
        for (const name of known) fresh.setRules(name.split('.')[0] ?? '', name.split('.')[1] ?? '', rules);
        for (const [name, labels] of namespaces) fresh.setNamespace(name, labels);
        for (const pod of stored.values())
          fresh.setPod(undefined, new Pods().record(pod.metadata.name ?? '', pod.group!.traits));
        // Ignore lines with groups: in the fresh instance each pod has its own group.
        const summed = (lines: string[]) => lines.filter((line) => !line.includes('users'));
        assert.deepEqual(summed(describeUsage(usage)), summed(describeUsage(fresh)));
      }),
      { numRuns: 1000 },
    );
  });
});
