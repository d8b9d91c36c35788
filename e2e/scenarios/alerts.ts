import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { load } from 'js-yaml';
import { alertNames, testAlerts, type AlertCase, type Scrape } from '../../packaging/alert-tests.ts';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { refusalOf } from '../harness/admissions.ts';
import { applyObject, isGone } from '../harness/apply.ts';
import { buildProgram } from '../harness/build.ts';
import type { Fault } from '../harness/faulty-proxy/fault.ts';
import {
  applyUntilReady,
  deleteForced,
  injectorConfigs,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import { shortLeases } from '../harness/operator-process.ts';
import type { Pod } from '../harness/pod.ts';
import { podReview, postReview } from '../harness/post-review.ts';
import type { Replica } from '../harness/replicas/replicas.ts';
import { applyTagUntilReady, removeTagAndWebhook, type RevisionTagObject } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { reviewTarget } from '../harness/webhook-configurations.ts';
import { createNamespace, waitForDeployment } from '../harness/workloads.ts';

/** A case of alerts/cases.yaml, which describes the fields. */
interface Case extends Pick<AlertCase, 'name' | 'raises' | 'hours'> {
  given?: KubernetesObject[];
  fault?: Fault;
  steps?: { apply?: KubernetesObject; refused?: KubernetesObject & Pod; says?: string; seen?: string; call?: string }[];
  remove?: KubernetesObject[];
}

export const alerts: Scenario = {
  name: 'alerts',
  about: 'each fault raises exactly the expected alerts of the chart; promtool evaluates series from real scrapes',
  destructive: 'it needs a proxy in front of the embedded API server',
  run: async (context) => {
    const { client, cluster } = context;
    const promtool = await buildProgram('promtool', (line) => context.say(line));
    const flags = ['--drain-seconds=1', shortLeases];
    const replicas = await context.startReplicas(
      { flags, proxied: true },
      { operator: { restartWorkloads: true, holdPods: true } },
    );
    const { namespace } = replicas.installation;
    const [first, second, third] = replicas.webhooks.map(({ name }) => name) as [string, string, string];
    const named = { FIRST: first, SECOND: second, THIRD: third, SYSTEM: namespace };
    const text = readFileSync(join(import.meta.dirname, 'alerts', 'cases.yaml'), 'utf8');
    const cases = load(text.replace(/\b(?:FIRST|SECOND|THIRD|SYSTEM)\b/g, (word) => named[word as 'FIRST'])) as Case[];
    const port = replicas.webhooks[0]?.operator.webhookPort ?? 0;
    const target = async () => reviewTarget(client, 'v1', namespace, port);
    const processes = replicas.webhooks.map(({ operator }) => operator.process);

    /** The names of removed objects, whose series last for up to 15 s. */
    const removed: string[] = [];
    /** Matches a sample of a removed object that would raise alerts in later cases. */
    const ofRemoved = (): RegExp => {
      const names = removed.length === 0 ? '(?!)' : removed.join('|');
      return new RegExp(`^injector_(?:condition|held_pods|serving_certificate)\\S*[/"-](?:${names})[".].*`, 'gm');
    };
    let frozen = false;
    const isFrozen = ({ name }: Replica): boolean => name === first && frozen;
    const scrapeAll = async (): Promise<Scrape> => {
      const texts = replicas.all.map(async (replica) => {
        const signal = AbortSignal.timeout(isFrozen(replica) ? 1000 : 15_000);
        const url = `http://127.0.0.1:${replica.operator.healthPort}/metrics`;
        const answer = await fetch(url, { signal }).catch(() => undefined);
        return [replica.name, await answer?.text()] as const;
      });
      return new Map(await Promise.all(texts));
    };
    const scrape = async (): Promise<Scrape> =>
      new Map([...(await scrapeAll())].map(([name, text]) => [name, text?.replace(ofRemoved(), '')]));
    const isSeen = async (sample: RegExp) => [...(await scrape()).values()].some((each = '') => sample.test(each));
    const calls: Record<string, () => unknown> = {
      'request an unknown path': async () => {
        const { path, ...others } = await target();
        await postReview({ ...others, path: path.replace('v1', 'none') }, podReview('none'));
      },
      'send many reviews': async () => {
        const to = await target();
        for (let review = 0; review < 300; review++) await postReview(to, podReview(`often-${review}`));
      },
      'send slowly': async () => sendSlowly(await target(), podReview('slow')),
      'send without TLS': () => Promise.all(Array.from({ length: 300 }, () => sendWithoutTls(port))),
      'wait until webhooks are active': () => untilActive(client),
      'wait until there is no leader': () =>
        waitFor('the leader to be gone', async () => !(await isSeen(/^injector_leader 1$/m))),
      'wait for the leader': () => waitFor('a leader', () => isSeen(/^injector_leader 1$/m)),
      'freeze the first': () => {
        processes[0]?.freeze();
        frozen = true;
      },
      'wait until the series of removed objects have ended': () =>
        waitFor('the series of removed objects to end', async () =>
          [...(await scrapeAll()).values()].every((text = '') => !ofRemoved().test(text)),
        ),
      'kill the first two': () => Promise.all([processes[0]?.kill(), processes[1]?.kill()]),
      'kill the third': () => processes[2]?.kill(),
    };
    const recorded: AlertCase[] = [];
    for (const { given = [], fault, steps = [], remove: left = [], ...each } of cases) {
      for (const object of given) await applied(context, object);
      const before = await scrape();
      const active = fault === undefined ? undefined : await replicas.proxy.fault(fault);
      for (const { apply, refused, says = '', seen, call } of steps) {
        if (apply !== undefined) await applyObject(client, apply);
        if (refused !== undefined) {
          const message = (await refusalOf(() => client.create(refused))) ?? 'the pod was stored';
          if (says !== '')
            await context.checkNow(`${each.name}: the refusal says whose fault it is`, () =>
              found(new RegExp(says, 's').test(message) ? says : message, says),
            );
        }
        if (seen !== undefined)
          await waitFor(`${seen} to be scraped`, () => isSeen(new RegExp(seen, 'm')), { interval: 250 });
        if (call !== undefined) await calls[call]!();
      }
      recorded.push({ ...each, before, after: await scrape() });
      await active?.end();
      for (const object of left) {
        const { kind, metadata } = object;
        const { name = '' } = metadata;
        if (kind === 'RevisionTag') await removeTagAndWebhook(client, name);
        else if (kind === 'InjectorConfig') {
          await deleteForced(client, object);
          await waitFor(`InjectorConfig ${name} to be deleted`, () => isGone(client, injectorConfigs, name));
        } else await client.delete(object);
        removed.push(name);
      }
      context.say(`${each.name}: recorded`);
    }
    await context.checkNow('every alert has a case that raises it', () =>
      none(
        alertNames().filter((alert) => !cases.some(({ raises }) => raises.some((one) => one.split(' ')[0] === alert))),
      ),
    );
    const file = join(cluster.run.path, 'alerts.json');
    await context.checkNow(`in promtool, each of ${cases.length} cases raises exactly the expected alerts`, () =>
      testAlerts(promtool, recorded, file),
    );
    return `${alertNames().length} alerts in ${cases.length} cases`;
  },
};

/** Applies an object and waits until it is ready. */
async function applied({ client }: ScenarioContext, object: KubernetesObject): Promise<void> {
  const { kind, metadata } = object;
  if (kind === 'Namespace') await createNamespace(client, metadata.name ?? '', metadata.labels);
  else if (kind === 'InjectorConfig') await applyUntilReady(client, object as InjectorConfigObject);
  else if (kind === 'RevisionTag') await applyTagUntilReady(client, object as RevisionTagObject);
  else await applyObject(client, object);
  if (kind === 'Deployment') await waitForDeployment(client, metadata.namespace ?? '', metadata.name ?? '');
}

/** Posts a review in two parts, with a pause of four seconds, as if the network were slow. */
async function sendSlowly(target: Awaited<ReturnType<typeof reviewTarget>>, review: string): Promise<void> {
  const { port, path, serverName: servername, authority: ca } = target;
  const headers = { 'content-type': 'application/json', 'content-length': review.length };
  const outgoing = request({ host: '127.0.0.1', port, path, method: 'POST', servername, ca, agent: false, headers });
  outgoing.write(review.slice(0, 10));
  await sleep(4000);
  outgoing.end(review.slice(10));
  await once(outgoing, 'response');
}

async function sendWithoutTls(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1', () => socket.end('GET / HTTP/1.1\r\n\r\n')).on('error', () => undefined);
  await once(socket.resume(), 'close');
}
