import { setTimeout as sleep } from 'node:timers/promises';
import { processUsage } from '../../bench/server/process-usage.ts';
import { applyAll } from '../harness/apply.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { isInjected } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { istioConfig, istioConfigMaps, istioTexts } from './istio-templates/istio-texts.ts';

const revision = 'throughput';

export const admissionThroughput: Scenario = {
  name: 'admission-throughput',
  about: 'measures how many pods per second are created with and without the webhook, and the CPU time of each process',
  destructive: 'it measures the processes of the embedded control plane',
  full: '60 seconds of pod creations with the webhook and 60 without the webhook, 3 minutes',
  alone: 'it measures milliseconds',
  run: async (context) => {
    const { client, cluster, size } = context;
    const operator = await context.startOperator();
    const source = await context.namespace('istio');
    await applyAll(client, istioConfigMaps(source, revision, istioTexts().texts));
    await applyUntilReady(client, istioConfig(source, revision));
    const plain = await context.namespace('plain');
    const labels = { 'istio.io/rev': revision };
    const mesh = await context.namespace('mesh', labels);
    await untilActive(client, { namespace: { name: mesh, labels } });
    const pids = new Map([['injector', operator.process.pid]]);
    for (const name of ['kube-apiserver', 'etcd'] as const) pids.set(name, cluster.controlPlane?.component(name).pid);
    const seconds = size === 'full' ? 60 : 3;
    const without = await create(context, plain, seconds, pids);
    const withWebhook = await create(context, mesh, seconds, pids);
    context.measured({ seconds, without, withWebhook });
    return `${without.perSecond} pods per second without the webhook, ${withWebhook.perSecond} with the webhook`;
  },
};

/** Creates pods as fast as possible, up to 64 at a time, for a number of seconds. */
async function create(
  context: ScenarioContext,
  namespace: string,
  seconds: number,
  pids: ReadonlyMap<string, number | undefined>,
) {
  const inMesh = namespace.endsWith('mesh');
  const load = await context.startLoad({
    namespace,
    perSecond: 2000,
    replicaSetPods: 0,
    inspect: (pod) => (isInjected(pod) === inMesh ? undefined : { kind: 'plain', what: 'unlike its namespace' }),
  });
  await sleep(1500);
  const cpu = () => new Map([...pids].map(([name, pid]) => [name, processUsage(pid ?? 0).cpuMilliseconds]));
  const [before, first] = [cpu(), load.creations.length];
  await sleep(seconds * 1000);
  const [after, creations] = [cpu(), load.creations.slice(first)];
  await load.stop();
  const isSound = creations.every(({ failure, defect }) => failure === undefined && defect === undefined);
  const statement = `each of ${creations.length} pods in ${namespace} ${inMesh ? 'has a sidecar' : 'has no sidecar'}`;
  await context.checkNow(statement, () => isSound);
  const milliseconds = [...after].map(([name, spent]) => {
    const each = (spent - (before.get(name) ?? 0)) / creations.length;
    return [name, Number(each.toFixed(3))] as const;
  });
  const perSecond = Math.round(creations.length / seconds);
  context.say(`${namespace}: ${perSecond} pods/s; CPU ms per pod: ${milliseconds.join(' ').replaceAll(',', ' ')}`);
  return { perSecond, cpuMilliseconds: Object.fromEntries(milliseconds) };
}
