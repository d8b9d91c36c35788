import { setTimeout as sleep } from 'node:timers/promises';
import { processUsage } from '../../bench/server/process-usage.ts';
import { applyUntilReady, injectorConfig } from '../harness/injector-configs.ts';
import type { OperatorProcess } from '../harness/operator-process.ts';
import { quantile } from '../harness/quantile.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none } from '../harness/wait-for.ts';
import { reviewTarget } from '../harness/webhook-configurations.ts';
import { runAttacker, type AttackReport } from './hostile-input/attack.ts';
import { hostileClasses } from './hostile-input/classes.ts';
import { HealthyTraffic, summarise, type HealthyFigures } from './hostile-input/healthy-traffic.ts';

const sizes = {
  short: { requestsPerClass: 80, undisturbed: 2000, silentAfter: 3000, clients: 12 },
  // Many clients wait for a timeout, so more clients do not prolong the run.
  full: { requestsPerClass: 10_000, undisturbed: 30_000, silentAfter: 60_000, clients: 24 },
};
const slowConnections = 1000;
/** With the slow ones, more connections without an answer than the server keeps (1,536). */
const mostSilentConnections = 3000;
/** The sum of the server's bounds in MiB, as in the chart's values.yaml; its limit is higher. */
const mostMemory = 600;
const chartLimit = 768;

export const hostileInput: Scenario = {
  name: 'hostile-input',
  about:
    'malformed and absurd requests of many classes, slow clients and huge bodies get the expected answers and disturb no other client',
  full: '1,260,000 malformed requests, 1,000 slow connections and bodies of 19 MiB, about 25 minutes',
  run: async (context) => {
    const size = sizes[context.size];
    const installation = await context.install();
    // The level of production; at debug, every request logs a line.
    const operator = await installation.startOperator({ flags: ['--log-level=info'] });
    await applyUntilReady(context.client, targetConfig);
    const namespace = await context.namespace('healthy', { 'istio.io/rev': targetConfig.metadata.name });
    const { name } = targetConfig.metadata;
    const address = await reviewTarget(context.client, name, installation.namespace, operator.webhookPort);
    const pid = operator.process.pid ?? 0;
    const mebibytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

    const traffic = new HealthyTraffic(context, namespace, address);
    await traffic.measure(sleep(1000));
    const undisturbed = await traffic.measure(sleep(size.undisturbed));
    const before = processUsage(pid);
    const { requestsPerClass, clients } = size;
    const attacking = runAttacker({
      port: address.port,
      target: { path: address.path, host: address.serverName },
      seed: context.seed,
      requestsPerClass,
      clients,
      slowConnections,
      silent: { after: size.silentAfter, most: mostSilentConnections },
    });
    const attacked = await traffic.measure(attacking);
    const report = await attacking;
    const during = processUsage(pid);
    const afterwards = await traffic.measure(sleep(size.undisturbed));
    const after = processUsage(pid);
    const reopened = traffic.reopened;
    traffic.close();

    const { sent, distinct } = await checkClasses(context, report, requestsPerClass);
    const failures = [undisturbed, attacked, afterwards].flatMap((figures) => figures.failures);
    await context.checkNow('healthy reviews and pods were answered and injected throughout', () =>
      none([...new Set(failures)]),
    );
    const dropped = await checkAftermath(context, operator, pid, reopened);
    const memory = {
      beforeMebibytes: mebibytes(before.residentBytes),
      peakMebibytes: mebibytes(after.peakResidentBytes),
      afterMebibytes: mebibytes(after.residentBytes),
    };
    await context.checkNow(
      `the operator never used more than ${mostMemory} MiB of the ${chartLimit} that the chart allows`,
      () => none(memory.peakMebibytes > mostMemory ? [`it used ${JSON.stringify(memory)}`] : []),
    );
    context.measured({
      requests: sent,
      classes: hostileClasses.length,
      requestsPerClass,
      distinctPercent: Math.round((distinct / sent) * 1000) / 10,
      crashes: 0,
      requestsPerSecond: Math.round(sent / report.seconds),
      tlsConnections: report.connections,
      handshakesBrokenOff: report.brokenOff,
      sentAgainAfterMakingRoom: report.sentAgain,
      operatorCpuMillisecondsPerSecond: Math.round((during.cpuMilliseconds - before.cpuMilliseconds) / report.seconds),
      operatorResidentMemory: memory,
      slowConnections: { opened: slowConnections, openAtTheEnd: report.slowConnectionsAtEnd },
      silentConnections: report.silentConnections,
      largeBodies: { mebibytes: 19, outcomes: report.largeOutcomes },
      unprovenConnectionsClosedUnderPressure: dropped,
      provenConnectionsClosed: reopened,
      healthy: {
        undisturbed: summarise(undisturbed),
        attacked: summarise(attacked),
        afterwards: summarise(afterwards),
      },
      outcomes: Object.fromEntries(report.classes.map(({ name, outcomes }) => [name, outcomes])),
    });
    const times = ({ direct, apiServer }: HealthyFigures): string =>
      `${quantile(direct, 0.99)} ms direct and ${quantile(apiServer, 0.99)} ms through the API server`;
    return [
      `${sent} requests of ${hostileClasses.length} classes in ${report.seconds.toFixed(1)} s`,
      `${((distinct / sent) * 100).toFixed(1)} % distinct, 0 crashes`,
      `RSS ${memory.beforeMebibytes} → ${memory.peakMebibytes} at most → ${memory.afterMebibytes} MiB`,
      `19 MiB bodies ${JSON.stringify(report.largeOutcomes)}`,
      `${attacked.direct.length + attacked.apiServer.length} healthy requests during it, 0 lost, p99 ${times(attacked)} (undisturbed ${times(undisturbed)})`,
      `${dropped} connections without an answered review closed under pressure, ${reopened} others`,
    ].join('; ');
  },
};

/** A small proxy template that reads labels, annotations and containers. */
const targetConfig = injectorConfig('hostile-target', {
  injection: {
    templates: {
      sidecar: `
spec:
  initContainers:
  - name: istio-init
    image: example.com/init:1
    args: [{{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeOutboundIPRanges" "*" | quote }}]
  containers:
  - name: istio-proxy
    image: example.com/proxy:1
    args:
    - --concurrency
    - {{ .ProxyConfig.Concurrency | default 2 | quote }}
    {{- range .Spec.Containers }}
    - {{ .Name | quote }}
    {{- end }}
    env:
    - name: NOTE
      value: {{ annotation .ObjectMeta "example.com/guard-note" "none" | quote }}
    - name: APP
      value: {{ index .ObjectMeta.Labels "app" | quote }}
    - name: CONTAINERS
      value: {{ len .Spec.Containers | quote }}
    command: [proxy]
`,
    },
  },
});

/** Checks the results of all classes, and the number and diversity of the requests. */
async function checkClasses(context: ScenarioContext, report: AttackReport, requestsPerClass: number) {
  const problems: string[] = [];
  for (const outcome of new Set(report.classes.map(({ expected }) => expected))) {
    const group = report.classes.filter(({ expected }) => expected === outcome);
    const wrong = group.filter(({ unexpected }) => unexpected > 0);
    const statement = `every request of these classes ends with ${outcome}: ${group.map(({ name }) => name).join(', ')}`;
    if (wrong.length === 0) await context.checkNow(statement, () => true);
    for (const { name, sent, unexpected, outcomes, example = '' } of wrong) {
      const instead = `${unexpected} of ${sent} did not end with ${outcome} but ${JSON.stringify(outcomes)}`;
      problems.push(`${name}: ${instead}; ${example}`);
    }
  }
  if (problems.length > 0) throw new Error(`\n${problems.join('\n')}`);
  const sent = report.classes.reduce((sum, tally) => sum + tally.sent, 0);
  const distinct = report.classes.reduce((sum, tally) => sum + tally.distinct, 0);
  await context.checkNow(
    `${report.classes.length} classes sent ${requestsPerClass} requests each, and at least 90 % of all requests were distinct`,
    () => {
      const sentWhole = report.classes.filter((tally) => tally.sent === requestsPerClass).map(({ name }) => name);
      none(hostileClasses.map(({ name }) => name).filter((name) => !sentWhole.includes(name)));
      if (report.classes.length < 40) throw new Error(`only ${report.classes.length} classes`);
      if (distinct < 0.9 * sent) throw new Error(`${distinct} of ${sent} requests are distinct`);
      return true;
    },
  );
  const least = report.classes.toSorted((left, right) => left.distinct / left.sent - right.distinct / right.sent)[0];
  if (least !== undefined) context.say(`the least distinct class is ${least.name}: ${least.distinct} of ${least.sent}`);
  return { sent, distinct };
}

/** The maximum length of a log line: the server logs 20 refusals per second and shortens quotes. */
const longestLogLine = 4000;

/**
 * Checks the state after an attack: the process, its log, its metrics and its connections. Returns
 * how many connections it closed under pressure.
 *
 * @param pid the process ID before the attack
 * @param reopened the number of healthy clients' connections that the server closed
 */
async function checkAftermath(context: ScenarioContext, operator: OperatorProcess, pid: number, reopened: number) {
  await context.check('the operator is the same process as before, and is ready', async () => {
    await operator.waitUntilReady();
    return operator.process.pid === pid;
  });
  const lines = operator.process.log().split('\n');
  const odd = lines.filter((line) => /\p{Cc}|\p{Cf}|[\u2028\u2029]/u.test(line));
  await context.checkNow(`the log contains no control characters (${lines.length} lines)`, () =>
    none(odd.map((line) => JSON.stringify(line))),
  );
  await context.checkNow('the log contains no errors', () => none(lines.filter((line) => /^\S+ error /.test(line))));
  const long = lines.filter((line) => line.length > longestLogLine);
  await context.checkNow(`no line of the log is longer than ${longestLogLine} characters`, () =>
    none(long.map((line) => `${line.length}: ${line}`)),
  );
  const metrics = (await operator.metrics()).split('\n');
  await context.checkNow(
    'no content of requests appears in metrics, which have fewer than 1000 lines',
    () => metrics.length < 1000,
  );
  const pressure = 'injector_connections_dropped_total{reason="pressure"} ';
  const dropped = Number(metrics.find((line) => line.startsWith(pressure))?.slice(pressure.length) ?? 0);
  await context.checkNow('under pressure, the operator closed connections, but none with an answered review', () => {
    if (dropped === 0) throw new Error('no connection was closed, so there was no pressure');
    return found(`${reopened} closed`, '0 closed');
  });
  return dropped;
}
