import { setTimeout as sleep } from 'node:timers/promises';
import { processUsage } from '../../bench/server/process-usage.ts';
import { hostileClasses } from '../../src/server/testdata/hostile/classes.ts';
import { hostileTemplate } from '../../src/server/testdata/hostile/materials.ts';
import { applyUntilReady, injectorConfig } from '../harness/injector-configs.ts';
import type { OperatorProcess } from '../harness/operator-process.ts';
import { quantile } from '../harness/quantile.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none } from '../harness/wait-for.ts';
import { reviewTarget } from '../harness/webhook-configurations.ts';
import { runAttacker, type AttackReport } from './hostile-input/attack.ts';
import { healthyTraffic, summarise, type HealthyFigures } from './hostile-input/healthy-traffic.ts';

/** The maximum number of silent connections, more than the server keeps (1,536). */
const most = 3000;
const sizes = {
  // A sample: src/cli/operator/hostile-input.test.ts sends more requests of each class.
  short: {
    requestsPerClass: 8,
    undisturbed: 500,
    clients: 12,
    slowConnections: 200,
    silent: { after: 500, most, encrypted: false },
  },
  // Many of the clients only wait for a timeout, so 24 clients take no longer than 12.
  full: {
    requestsPerClass: 10_000,
    undisturbed: 30_000,
    clients: 24,
    slowConnections: 1000,
    silent: { after: 60_000, most, encrypted: true },
  },
};
/** The sum of the server's memory bounds in MiB, which is below the chart's memory limit. */
const mostMemory = 600;
const chartLimit = 768;

export const hostileInput: Scenario = {
  name: 'hostile-input',
  about:
    'malformed and absurd requests of many classes, slow clients and huge bodies get the expected answers, and do not affect other clients',
  full: '1,260,000 malformed requests, 1,000 slow connections and bodies of 19 MiB, about 25 minutes',
  alone: 'it judges milliseconds under attack',
  run: async (context) => {
    const size = sizes[context.size];
    const installation = await context.install();
    // Production logs at level info. At level debug, every request would log a line.
    const operator = await installation.startOperator({ flags: ['--log-level=info'] });
    await applyUntilReady(context.client, targetConfig);
    const namespace = await context.namespace('healthy', { 'istio.io/rev': targetConfig.metadata.name });
    const { name } = targetConfig.metadata;
    const address = await reviewTarget(context.client, name, installation.namespace, operator.webhookPort);
    const pid = operator.process.pid ?? 0;
    const mebibytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

    const traffic = healthyTraffic(context, namespace, address);
    await traffic.measure(sleep(1000));
    const undisturbed = await traffic.measure(sleep(size.undisturbed));
    const before = processUsage(pid);
    const { requestsPerClass, clients, slowConnections, silent } = size;
    const attacking = runAttacker({
      port: address.port,
      target: { path: address.path, host: address.serverName },
      seed: context.seed,
      requestsPerClass,
      clients,
      slowConnections,
      silent,
    });
    const attacked = await traffic.measure(attacking);
    const report = await attacking;
    const during = processUsage(pid);
    const afterwards = await traffic.measure(sleep(size.undisturbed));
    const after = processUsage(pid);
    const reopened = traffic.reopened();
    traffic.close();

    const { sent, distinct } = await checkClasses(context, report, requestsPerClass);
    const failures = [undisturbed, attacked, afterwards].flatMap((figures) => figures.failures);
    await context.checkNow('all healthy reviews were answered, and all healthy pods were injected', () =>
      none([...new Set(failures)]),
    );
    const dropped = await checkAftermath(context, operator, pid, reopened);
    const memory = {
      beforeMebibytes: mebibytes(before.residentBytes),
      peakMebibytes: mebibytes(after.peakResidentBytes),
      afterMebibytes: mebibytes(after.residentBytes),
    };
    await context.checkNow(
      `the operator never used more than ${mostMemory} MiB of memory (the limit in the chart is ${chartLimit} MiB)`,
      () => none(memory.peakMebibytes > mostMemory ? [`the operator used ${JSON.stringify(memory)}`] : []),
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
      `${((distinct / sent) * 100).toFixed(1)} % of the requests distinct, 0 crashes`,
      `RSS ${memory.beforeMebibytes} MiB before, at most ${memory.peakMebibytes} MiB, ${memory.afterMebibytes} MiB after`,
      `outcomes of bodies of 19 MiB: ${JSON.stringify(report.largeOutcomes)}`,
      `${attacked.direct.length + attacked.apiServer.length} healthy requests during the attack, 0 lost, p99 ${times(attacked)} (before the attack: ${times(undisturbed)})`,
      `under pressure, the operator closed ${dropped} connections without an answered review and ${reopened} other connections`,
    ].join('; ');
  },
};

const targetConfig = injectorConfig('hostile-target', { injection: { templates: { sidecar: hostileTemplate } } });

/** Checks the outcomes of all classes, the number of requests, and how many are distinct. */
async function checkClasses(context: ScenarioContext, report: AttackReport, requestsPerClass: number) {
  const problems: string[] = [];
  for (const outcome of new Set(report.classes.map(({ expected }) => expected))) {
    const group = report.classes.filter(({ expected }) => expected === outcome);
    const wrong = group.filter(({ unexpected }) => unexpected > 0);
    const statement = `every request has the outcome ${outcome} in these classes: ${group.map(({ name }) => name).join(', ')}`;
    if (wrong.length === 0) await context.checkNow(statement, () => true);
    for (const { name, sent, unexpected, outcomes, example = '' } of wrong) {
      const instead = `${unexpected} of ${sent} requests did not have the outcome ${outcome}: ${JSON.stringify(outcomes)}`;
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

/** The maximum number of characters in a log line. The server shortens quoted parts of requests. */
const longestLogLine = 4000;

/**
 * Checks the operator's process, log, metrics and connections after an attack. Returns how many
 * connections the operator closed under pressure.
 *
 * @param pid the process ID before the attack
 * @param reopened the number of healthy clients' connections that the server closed
 */
async function checkAftermath(context: ScenarioContext, operator: OperatorProcess, pid: number, reopened: number) {
  await context.check('after the attack, the same operator process runs and is ready', async () => {
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
    'the metrics have fewer than 1000 lines, so content of requests does not create series',
    () => metrics.length < 1000,
  );
  const pressure = 'injector_connections_dropped_total{reason="pressure"} ';
  const dropped = Number(metrics.find((line) => line.startsWith(pressure))?.slice(pressure.length) ?? 0);
  await context.checkNow('under pressure, the operator closed only connections without an answered review', () => {
    if (dropped === 0) throw new Error('no connection was closed, so there was no pressure');
    return found(`${reopened} closed`, '0 closed');
  });
  return dropped;
}
