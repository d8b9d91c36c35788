import assert from 'node:assert/strict';
import fc from 'fast-check';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { PodRecord } from './pod-group.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';
import { memberOf, judgePod } from './judge-pod.ts';
import type { PodTraits } from './pod-traits.ts';
import { PodUsage } from './pod-usage.ts';
import { by, selectingWebhook, logKeys, Pods, rules, told } from './testdata/counted-pods.ts';

describe('PodUsage, over histories,', () => {
  /** Words of a history. */
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
  /** What pods of a cluster mostly are, so that several are alike. */
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
  );

  it('says after any history what a count from the beginning says, by asking everybody', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 8, maxLength: 60, size: 'max' }), (history) => {
        const usage = new PodUsage();
        const pods = new Pods();
        const namespaces = new Map<string, Record<string, string>>();
        const there = new Map<string, PodRecord>();
        const webhooks = new Map<string, SelectingWebhook>();
        const families = new Set<string>();
        const known = new Set<string>();
        const claim = (id: string, { isThere }: { isThere: boolean }, webhook: SelectingWebhook): void => {
          const next = isThere ? webhook : undefined;
          const before = webhooks.get(id);
          // Selectors that have not changed are the same object, as they are for a webhook that only moves.
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
            case 'rules':
              usage.setRules(each.name, each.hash, rules);
              known.add(`${each.name}.${each.hash}`);
          }
        }
        for (const name of known) {
          const [config = '', of = ''] = name.split('.');
          usage.setRules(config, of, rules);
        }

        const selecting = (labels: Readonly<Record<string, string>>, podLabels: Readonly<Record<string, string>>) =>
          [...webhooks.values()].filter(({ selectors }) =>
            selectors.some((each) => each.namespace(labels) && each.pod(podLabels)),
          );
        const empty = () => ({
          states: new Map<string, number>(),
          users: new Map<string, number>(),
          named: new Set<string>(),
        });
        const expected = empty();
        const add = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
        for (const { group } of there.values()) {
          const labels = namespaces.get(group!.traits.namespace);
          if (labels === undefined) continue;
          const judgements = judgePod(group!.traits, labels, {
            webhooks: { selecting },
            familyOf: (name) => (families.has(name) ? memberOf(keysOf(name), name) : undefined),
            rulesOf: ({ injectorConfig, hash: of = '' }) => (known.has(`${injectorConfig}.${of}`) ? rules : undefined),
          });
          for (const { state, injectorConfig, selectedBy, isUser } of judgements) {
            if (!isUser) continue;
            const isCounted = state !== 'none' && state !== 'undecided';
            if (isCounted) add(expected.states, `InjectorConfig/${injectorConfig} ${state}`);
            for (const user of new Set([injectorConfig, selectedBy?.injectorConfig ?? injectorConfig]))
              add(expected.users, `InjectorConfig/${user}`);
            if (selectedBy?.tag === undefined) continue;
            if (isCounted) add(expected.states, `RevisionTag/${selectedBy.tag} ${state}`);
            add(expected.users, `RevisionTag/${selectedBy.tag}`);
          }
        }
        for (const [name, labels] of namespaces) {
          for (const { selectors, injectorConfig, tag, canary } of webhooks.values()) {
            if (!selectors.some((each) => each.isByNamespace && each.namespace(labels))) continue;
            expected.named.add(`InjectorConfig/${injectorConfig} ${name}`);
            if (canary !== undefined) expected.named.add(`InjectorConfig/${canary.injectorConfig} ${name}`);
            if (tag !== undefined) expected.named.add(`RevisionTag/${tag} ${name}`);
          }
        }
        const actual = empty();
        for (const name of usage.subjects()) {
          const { counts, users, namespaces: named } = usage.subject(name)!;
          for (const [state, count] of Object.entries(counts))
            if (count > 0) actual.states.set(`${name} ${state}`, count);
          if (users > 0) actual.users.set(name, users);
          for (const each of named.keys()) actual.named.add(`${name} ${each}`);
        }
        const sorted = ({ states, users, named }: typeof actual) =>
          [[...states], [...users], [...named]].map((each) => each.sort());
        assert.deepEqual(sorted(actual), sorted(expected));

        // And what another one says that was told the end alone.
        const fresh = new PodUsage();
        for (const name of families) fresh.setFamily(name, keysOf(name));
        for (const [id, each] of webhooks) fresh.setWebhook(id, each);
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
