import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { istio, revision } from '../../src/selection/testdata/istio-webhook.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import { buildKubectl } from '../harness/build.ts';
import { clusterFlags, runInjector } from '../harness/injector-command.ts';
import {
  applyUntilReady,
  injectorConfig,
  injectorConfigs,
  type InjectorConfigObject,
  smallConfig,
} from '../harness/injector-configs.ts';
import { paths } from '../harness/paths.ts';
import { applyTagUntilReady, removeTagAndWebhook, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { runInShell } from '../harness/shell.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { deletePods, podsOf } from '../harness/workloads.ts';
import { configured, places, type Edit } from './remedies/problems.ts';

type Finding = Record<'namespace' | 'kind' | 'name' | 'reason' | 'message' | 'command', string>;
/** A finding as the problems name it, with the namespace without its prefix. */
const idOf = ({ namespace, kind, name, reason }: Finding): string =>
  `${suffixOf(namespace)}: ${kind}/${kind === 'ReplicaSet' && reason === 'Refused' ? '*' : suffixOf(name)} ${reason}`;
const suffixOf = (name: string): string => name.replace(/^remedies-/, '');

export const remedies: Scenario = {
  name: 'remedies',
  about:
    '`injector analyze` finds each of more than 30 planted problems; after its remedy is run as printed, the problem is gone and nothing else has changed',
  destructive: 'it installs the default revision, and pauses a revision',
  run: async (context) => {
    await buildKubectl((line) => context.say(line));
    const shell = shellIn(context);
    await context.startOperator();
    await plant(context);
    const expected = [
      ...Object.entries(places).flatMap(([name, place]) => place.found.map((each) => `${name}: ${each}`)),
      ...configured.flatMap((each) => each.found.map((text) => `: ${text}`)),
    ].sort();
    const findings = await untilFound(context, 'analyze finds exactly the planted problems', expected);
    await context.checkNow('analyze says that the last good configuration injects while the spec is broken', () =>
      findings.some(
        ({ name, message }) => name === 'broken' && /still get the last good configuration, /.test(message),
      ),
    );
    const first = new Set(findings.filter((_, index) => index % 2 === 0).map(groupOf));
    const isFirst = (finding: Finding): boolean => first.has(groupOf(finding));
    for (const [title, isChosen] of [
      ['half', isFirst],
      ['the other half', (finding: Finding) => !isFirst(finding)],
    ] as const) {
      const chosen = findings.filter(isChosen);
      const others = title === 'half' ? findings.filter((each) => !isChosen(each)) : [];
      const spared = (namespace: string): boolean => !chosen.some((each) => groupOf(each) === suffixOf(namespace));
      const before = await objectsIn(context, spared);
      for (const [index, finding] of chosen.entries())
        await follow(
          context,
          shell,
          finding,
          chosen.slice(0, index).some((each) => groupOf(each) === groupOf(finding)),
        );
      const statement = `after the remedies for ${title} of the problems, these are gone, and no other is found`;
      await untilFound(context, statement, others.map(idOf).sort());
      await context.checkNow(`the remedies for ${title} changed no object of other namespaces`, async () =>
        none((await objectsIn(context, spared)).filter((each) => !before.includes(each))),
      );
    }
    context.measured({ problems: findings.length, kinds: new Set(findings.map(({ reason }) => reason)).size });
    return `${findings.length} problems of ${new Set(findings.map(({ reason }) => reason)).size} kinds were found and solved by the commands that analyze prints`;
  },
};

/** Problems with one cause are solved together. */
function groupOf({ namespace, name }: Finding): string {
  const group = suffixOf(namespace === '' ? name : namespace);
  return group === 'in-pause' ? 'paused' : group;
}

async function plant(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const good = ['mesh-1', 'mesh-2', 'twice'].map((name) => smallConfig(name));
  const spoilt = configured.filter(({ config }) => config.metadata.name !== 'unreached');
  for (const config of [...good, ...spoilt.map(({ config }) => config)]) await applyObject(client, config);
  for (const config of [...good, ...spoilt.map(({ config }) => config)]) await applyUntilReady(client, config);
  for (const tag of ['default', 'gone']) await applyTagUntilReady(client, revisionTag(tag, 'mesh-1'));
  const entries = Object.entries(places);
  for (const [name, { before = {} }] of entries) await context.namespace(name, before);
  await untilActive(client);
  for (const [name, { objects, isRefused }] of entries) {
    if (objects === undefined) continue;
    const namespace = `remedies-${name}`;
    if (name === 'quota') await forbidPods(context, namespace);
    for (const object of objects(namespace)) await client.create(object);
    if (isRefused !== true) await waitFor(`pods in ${namespace}`, () => hasPods(context, namespace));
  }
  await waitFor('all pods to run', async () => {
    const lists = entries.map(([name]) => (name === 'job' ? Promise.resolve([]) : podsOf(client, `remedies-${name}`)));
    return (await Promise.all(lists)).flat().every(({ status }) => status?.phase === 'Running');
  });
  for (const [name, { after }] of entries)
    if (after !== undefined)
      await client.patch(objectOf('v1', 'Namespace', `remedies-${name}`), 'merge', { metadata: { labels: after } });
  const deployment = objectOf('apps/v1', 'Deployment', 'web', 'remedies-rollout-paused');
  await client.patch(deployment, 'merge', { spec: { paused: true } });
  await removeTagAndWebhook(client, 'gone');
  const ignored = { namespaceSelector: revision('twice'), sideEffects: 'None', admissionReviewVersions: ['v1'] };
  const foreign = istio({ ...ignored, failurePolicy: 'Ignore', clientConfig: { url: 'https://127.0.0.1:1/inject' } });
  await applyObject(client, foreign);
  context.atEnd(() => client.delete(foreign));
  await applyObject(client, configured.find(({ config }) => config.metadata.name === 'unreached')!.config);
  // Its reason changes once, when the replica has loaded it.
  await waitFor('the API server to miss the webhook of unreached', async () => {
    const { status } = await client.get<InjectorConfigObject>(injectorConfigs, 'unreached');
    return status?.conditions?.some(({ reason }) => reason === 'NotReachable');
  });
  for (const { config, spoilt } of configured)
    if (spoilt !== undefined) await edit(context, config.metadata.name, spoilt);
}

/** Creates a quota that allows no pod, and waits until the API server enforces it. */
async function forbidPods({ client }: ScenarioContext, namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' }, spec: { hard: { pods: '0' } } };
  await client.request('POST', path, { body: JSON.stringify(quota) });
  await waitFor(`the quota of ${namespace}`, async () => {
    const { status } = (await client.request('GET', `${path}/none`)) as { status?: { used?: object } };
    return status?.used !== undefined;
  });
}

async function hasPods({ client }: ScenarioContext, namespace: string): Promise<boolean> {
  return (await podsOf(client, namespace)).length > 0;
}

async function edit({ client }: ScenarioContext, name: string, spec: Edit): Promise<void> {
  await client.patch(injectorConfig(name, {} as never), 'merge', { spec });
}

/** Waits until the command finds exactly these problems, and prints what it finds then. */
async function untilFound(context: ScenarioContext, statement: string, expected: readonly string[]) {
  return context.check(
    statement,
    async () => {
      const { out, errors } = await runInjector(['analyze', '-o', 'json', ...clusterFlags(context.cluster)]);
      if (out === '') throw new Error(errors);
      const findings = JSON.parse(out) as Finding[];
      const ids = findings.map(idOf).sort();
      const more = ids.filter((each) => !expected.includes(each));
      const lacks = expected.filter((each) => !ids.includes(each));
      const told = findings
        .filter((each) => more.includes(idOf(each)))
        .map(({ message, command }) => `${message} => ${command}`);
      found([...more, ...told, ...lacks.map((each) => `not ${each}`)].join('; '), '');
      return findings;
    },
    { interval: 1000, timeout: 90_000 },
  );
}

/** Returns a function that runs a command as a user does, with kubectl and injector on the PATH. */
function shellIn(context: ScenarioContext) {
  const { kubeconfig } = context.cluster;
  const folder = mkdtempSync(join(tmpdir(), 'injector-remedies-'));
  context.atEnd(() => rmSync(folder, { recursive: true }));
  symlinkSync(paths.kubectl, join(folder, 'kubectl'));
  const program = `#!/bin/sh\nexec ${process.execPath} ${paths.injector} "$@"\n`;
  writeFileSync(join(folder, 'injector'), program, { mode: 0o755 });
  const PATH = [folder, dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  return (command: string) => runInShell(command, { PATH, HOME: folder, KUBECONFIG: kubeconfig });
}

/** Runs a remedy as printed, then what it prints, or does what its text asks for. */
async function follow(
  context: ScenarioContext,
  shell: ReturnType<typeof shellIn>,
  finding: Finding,
  isSolved: boolean,
) {
  const { command, name, message } = finding;
  const { code, text } = await shell(command);
  context.say(`${idOf(finding)}: ${command}`);
  const isQuestion = command.startsWith('injector check ');
  if (code !== 0 && !isQuestion) throw new Error(`${command} exited with ${code}: ${text}`);
  const cure = configured.find(({ config }) => config.metadata.name === name)?.cure;
  const [answer] = isQuestion ? (/(?:^ {2,4}(?:kubectl|injector) .*\n)+/m.exec(text) ?? []) : [];
  if (command.startsWith('#') || text.includes('exceeded quota')) await correct(context, finding, `${command}${text}`);
  else if (answer !== undefined && !isSolved) {
    context.say(`  ${answer.trim()}`);
    const then = await shell(`set -e\n${answer}`);
    if (then.code !== 0) throw new Error(`${answer} exited with ${then.code}: ${then.text}`);
    if (/recreate\s+it\s+afterwards/.test(text)) await deletePods(context.client, finding.namespace);
  } else if (isQuestion && !isSolved) throw new Error(`no remedy in: ${text}`);
  else if (cure !== undefined) {
    if (!text.includes(message.slice(-30))) throw new Error(`${command} does not print: ${message}`);
    await edit(context, name, cure);
  }
}

/** Does what a text says that is no command. */
async function correct({ client }: ScenarioContext, { namespace, kind }: Finding, text: string): Promise<void> {
  if (kind === 'Job' && text.includes('wait')) {
    const [pod] = await podsOf(client, namespace);
    await client.patch(pod!, 'merge', { spec: { schedulingGates: null } });
  } else if (text.includes('exceeded quota: none'))
    await client.request('DELETE', `/api/v1/namespaces/${namespace}/resourcequotas/none`);
  else throw new Error(`no remedy: ${text}`);
}

/** Returns InjectorConfigs, and objects of namespaces, as texts that change with their specs. */
async function objectsIn({ client }: ScenarioContext, isWanted: (namespace: string) => boolean): Promise<string[]> {
  const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'].map((kind) => resourceKind('apps/v1', kind));
  const all = [resourceKind('v1', 'Namespace'), resourceKind('v1', 'Pod'), injectorConfigs, ...kinds];
  const lists = await Promise.all(all.map((kind) => client.listAll(kind)));
  return lists.flatMap(({ items }, index) =>
    items.flatMap(({ metadata: { name = '', namespace, uid, generation, labels } }) => {
      const where = namespace ?? name;
      const text = [all[index]?.kind, where, name, uid, generation, JSON.stringify(labels)].join(' ');
      return where.startsWith('remedies-') || namespace === undefined ? (isWanted(where) ? [text] : []) : [];
    }),
  );
}
