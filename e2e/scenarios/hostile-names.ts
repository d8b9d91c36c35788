import { Random } from '../../scripts/template-recorder/random.ts';
import type { UsageStatus } from '../../src/api/injector-config/usage-status.ts';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { RolloutState } from '../../src/api/revision-tag/revision-tag.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject } from '../harness/apply.ts';
import { clusterFlags, injectorOutput, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, injectorConfig } from '../harness/injector-configs.ts';
import { applyMarked } from '../harness/load/marked-config.ts';
import { shortLeases } from '../harness/operator-process.ts';
import type { Pod } from '../harness/pod.ts';
import { applyTagUntilReady, restartsOf, revisionTag, revisionTags } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { barePod, createDeployment, neverScheduled } from '../harness/workloads.ts';
import { pathOf, waitForRollout } from './canary/workloads.ts';

const say = 'e2e.sidecar-injector.io/say';
const template = `{{ with index .ObjectMeta.Annotations "${say}" }}{{ fail . }}{{ end }}spec: {containers: [{name: a, image: a}]}`;
const ranges = [0, 0x2f, 0x7f, 0xa0, 0xad, 0xad, 0x2028, 0x202e, 0xfeff, 0xfeff, 0xfffd, 0x10000, 0x10ffff, 0x10ffff];
/** The characters that YAML, JSON, terminals or names treat specially. */
const special = ranges.flatMap((from, at) =>
  at % 2 === 1
    ? []
    : Array.from({ length: ranges[at + 1]! - from + 1 }, (_, index) => String.fromCodePoint(from + index)),
);
const spoken = '\0\u001b\u007f\u0080\u0085\u009f\u2028\u202e\ufeff\ufffe\uffff\u{1f600}\u{10ffff}';
/** The number of pods, and of characters in each of their fields. */
const [count, length] = [60, 8];

export const hostileNames: Scenario = {
  name: 'hostile-names',
  about: 'whatever characters authors write into their pods, all statuses and Events are written, and rollouts go on',
  run: async (context) => {
    const { client, cluster } = context;
    const installation = await context.install({ operator: { restartWorkloads: true } });
    const operator = await installation.startOperator({ flags: [shortLeases, '--log-level=debug'] });
    await applyMarked(client, { v1: 'one', v2: 'two' });
    await applyUntilReady(client, injectorConfig('quoting', { injection: { templates: { sidecar: template } } }));
    await applyTagUntilReady(client, revisionTag('prod', 'v1'));
    const namespace = await context.namespace('authors', { 'istio.io/rev': 'prod' });
    await createDeployment(client, namespace, 'honest');
    const random = new Random(context.seed);
    const other = () =>
      String.fromCodePoint(random.pick([0x100 + random.below(0xd700), 0xe000 + random.below(0x102000)]));
    const characters = Array.from({ length: count * length }, (_, index) => special[index] ?? other());
    const texts = Array.from({ length: count }, (_, index) =>
      characters.slice(index * length, (index + 1) * length).join(''),
    );
    for (const [index, text] of texts.entries()) await client.create(hostilePod(namespace, index, text));
    const usage = async () =>
      (await client.get<KubernetesObject & { status: UsageStatus }>(revisionTags, 'prod')).status;
    await context.check(
      `the status counts ${count} pods with ${characters.length} characters in each field`,
      async () => found(String((await usage()).injected?.current), String(count + 1)),
    );

    const [shadow, last] = [
      { weight: 0, shadow: true },
      { weight: 100, pause: 'UntilResumed' },
    ];
    const canary = { steps: [shadow, last], analysis: { minimumPods: 1, minReadySeconds: 1 } };
    const strategy = { canary, restart: { minReadySeconds: 1 } };
    const compared = async (name: string, index: number) => {
      await waitFor('a new path', async () => (await pathOf(context, 'prod')).includes(`/${name}/`));
      await untilActive(client);
      await client.create(hostilePod(namespace, index, spoken));
    };
    await applyObject(client, revisionTag('prod', 'quoting', { strategy }));
    await compared('quoting', count);
    await context.check('a rollout is rolled back, and its status quotes an author, unchanged', async () => {
      const state = ({ phase, message }: RolloutState) => phase === 'RolledBack' && message.includes(spoken);
      return waitForRollout(context, 'prod', 'rolled back', state);
    });
    const injector = (...argv: string[]) => injectorOutput([...argv, ...clusterFlags(cluster)]);
    const { out } = await injector('tag', 'set', 'prod', '-r', 'v2', '--overwrite', '--yes');
    await context.checkNow('injector tag set returns when the next rollout is in progress', () =>
      /the rollout is under way/.test(out),
    );
    await compared('v2', count + 1);
    await waitForRollout(context, 'prod', 'paused', ({ phase }) => phase === 'Paused');
    await injector('tag', 'resume', 'prod');
    await waitForRollout(context, 'prod', 'promoted', ({ phase }) => phase === 'Promoted');
    await context.check('the status lists owners that cannot exist as INVALID, and no other odd name', async () => {
      const lists = [(await usage()).workloads?.stale ?? [], (await restartsOf(context, 'prod')).untouched];
      found(JSON.stringify(lists).replaceAll(/[\x20-\x7e]/g, ''), '');
      return lists.every((each) => each.some(({ name }) => name === 'INVALID'));
    });
    for (const command of [['analyze'], ['diff', '--to', 'v1']])
      await context.checkNow(`injector ${command[0]!} names no owner that cannot exist`, async () => {
        const { out } = await runInjector([...command, '-o', 'json', ...clusterFlags(cluster)]);
        if (!out.includes('"INVALID"')) throw new Error(out);
        return none(texts.filter((text) => out.includes(JSON.stringify(`web${text}`).slice(1, -1))));
      });

    const long = `${'a'.repeat(219)}-${'b'.repeat(33)}`;
    const plain = await context.namespace('plain');
    await client.create(
      barePod(plain, long, { labels: { app: 'a', 'sidecar.istio.io/inject': 'true' }, spec: neverScheduled }),
    );
    await context.check('an Event is written about a pod whose name ends with - where it is cut', async () => {
      const { items } = await client.list(resourceKind('v1', 'Event'), { namespace: plain });
      return items.some(({ metadata }) => metadata.name?.startsWith('aaa') === true);
    });
    await context.checkNow('all statuses and Events were written', () => {
      const lines = operator.process.log().split('\n');
      return none(lines.filter((line) => /an event was not written|StatusRefused|a reconcile failed/.test(line)));
    });
    return `${characters.length} characters in each field of ${count} pods`;
  },
};

/** Returns a pod with a text in each field that Kubernetes does not check. Nothing collects it. */
function hostilePod(namespace: string, index: number, text: string): KubernetesObject & Pod {
  const pod = barePod(namespace, `hostile-${index}`, { annotations: { [say]: text }, spec: neverScheduled });
  const owner = { apiVersion: 'example.com/v1', kind: `K${index % 2 === 0 ? '' : text}`, name: `web${text}` };
  const [container] = pod.spec.containers;
  Object.assign(container!, { image: `i${text}i`, command: [text], env: [{ name: 'E', value: text }] });
  // Of a generateName, Kubernetes checks the character before the last only for `%` and `/`.
  pod.metadata.generateName = `x${String.fromCharCode(index % 37)}-`;
  pod.metadata.ownerReferences = [{ ...owner, uid: `u${index}`, controller: index % 3 > 0 }];
  return pod;
}
