import type { X509Certificate } from 'node:crypto';
import { objectNames, serviceHostName } from '../../src/api/names.ts';
import { parseBundle } from '../../src/certs/bundle.ts';
import { clusterFlags, injectorOutput, runInjector } from '../harness/injector-command.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import type { Installation } from '../harness/installation.ts';
import type { OperatorProcess } from '../harness/operator-process.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { shakeHands } from '../harness/tls-observer/handshake.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { redirected, webhookOf } from '../harness/webhook-configurations.ts';
import { checkServedWebhook } from './certs-commands/served-webhook.ts';

export const certsCommands: Scenario = {
  name: 'certs-commands',
  about:
    'injector certs status, rotate, export-ca against a living operator; certs create, serve and certs patch-ca-bundle without one',
  paired: true,
  destructive: 'its webhook takes pods of namespaces with its own label',
  run: async (context) => {
    const { leaf, authority, force } = await checkOperatorCommands(context);
    await checkServedWebhook(context);
    context.measured({ leafMilliseconds: leaf, authorityMilliseconds: authority, forcedMilliseconds: force });
    return `rotate --wait ${leaf} ms, --ca ${authority} ms, --ca --force ${force} ms; a pod injected by serve with certificates of certs create`;
  },
};

const name = 'commanded';
const names = objectNames(name);
/** Nothing is due before the scenario has ended, however slow the machine is: what is renewed was asked for. */
const certificate = { leafDuration: '240h', caDuration: '8760h', confirmationPeriod: '60s' };

interface StatusReport {
  name: string;
  fingerprint?: string;
  phase: string;
  problems: string[];
}

class CommandedOperator {
  readonly context: ScenarioContext;
  readonly operator: OperatorProcess;
  readonly #namespace: string;
  readonly username: string;

  private constructor(context: ScenarioContext, operator: OperatorProcess, installation: Installation) {
    this.context = context;
    this.operator = operator;
    this.#namespace = installation.namespace;
    this.username = installation.username;
  }

  /** A minute of a certificate's life is a second. Pods are not followed: nothing here needs it. */
  static async start(context: ScenarioContext): Promise<CommandedOperator> {
    const installation = await context.install({ operator: { followPods: false } });
    const operator = await installation.startOperator({
      flags: ['--test-certificate-time-scale=60', '--drain-seconds=0'],
    });
    const config = smallConfig(name);
    await applyUntilReady(context.client, { ...config, spec: { ...config.spec, certificate } });
    return new CommandedOperator(context, operator, installation);
  }

  run(...argv: string[]): ReturnType<typeof runInjector> {
    return runInjector(['certs', ...argv, ...clusterFlags(this.context.cluster)]);
  }

  async output(...argv: string[]): Promise<string> {
    const { out } = await injectorOutput(['certs', ...argv, ...clusterFlags(this.context.cluster)]);
    return out;
  }

  async status(): Promise<StatusReport> {
    const [report] = JSON.parse(await this.output('status', name, '-o', 'json')) as StatusReport[];
    if (report === undefined) throw new Error('certs status reports nothing');
    return report;
  }

  /** What the replica shows to a TLS client of our own that trusts what `export-ca` prints; its fingerprint in lower-case hex. */
  async served(): Promise<string> {
    const host = serviceHostName(names.service, this.#namespace);
    const { leaf, fault } = await shakeHands(this.operator.webhookPort, host, await this.output('export-ca', name));
    if (leaf === undefined || fault !== undefined)
      throw new Error(`the certificate is not trusted: ${fault ?? 'none'}`);
    return fingerprintOf(leaf);
  }

  /** Waits until the replica shows another certificate, which it takes over from its Secret by itself; its fingerprint. */
  servedOtherThan(before: string): Promise<string> {
    return waitFor('another certificate to be served', async () => {
      const served = await this.served();
      return served !== before && served;
    });
  }

  async authorities(): Promise<string[]> {
    return parseBundle(await this.output('export-ca', name)).map(({ fingerprint }) => fingerprint);
  }
}

/** What an operator's certificates are asked for: status, renewals in all three ways, the authorities; and what is said when it cannot be done. */
async function checkOperatorCommands(context: ScenarioContext) {
  const audit = context.startAudit();
  const commanded = await CommandedOperator.start(context);
  const first = await commanded.status();
  const firstServed = await commanded.served();
  await context.checkNow(
    'certs status knows the certificate that a TLS client is shown, which what export-ca prints verifies',
    () => first.problems.length === 0 && found(first.fingerprint ?? '', firstServed),
  );
  const milliseconds = await checkRotations(commanded, firstServed);
  await checkMistakes(commanded);
  await checkTrouble(commanded);
  const asked = (audit?.events() ?? []).filter(({ user }) => user.username === commanded.username);
  await context.checkNow(
    'operator.followPods is false: in all that time the leader has asked for no pod and no namespace',
    () => !asked.some(({ objectRef }) => ['pods', 'namespaces'].includes(objectRef?.resource ?? '')),
  );
  return milliseconds;
}

async function checkRotations(commanded: CommandedOperator, firstServed: string) {
  const { context } = commanded;
  const [firstAuthority = ''] = await commanded.authorities();
  const rotate = async (...flags: string[]) => {
    const result = await commanded.run('rotate', name, ...flags, '--wait');
    if (result.code !== 0) throw new Error(result.errors);
    for (const line of result.errors.trimEnd().split('\n')) context.say(`  ${line}`);
    return result;
  };

  const leaf = await rotate();
  const second = await commanded.servedOtherThan(firstServed);
  const afterLeaf = await commanded.authorities();
  await context.checkNow(
    `rotate --wait: another certificate of the same authority after ${leaf.milliseconds} ms`,
    () => second !== firstServed && found(afterLeaf.join(), firstAuthority),
  );
  const authority = await rotate('--ca');
  const third = await commanded.servedOtherThan(second);
  const both = await commanded.authorities();
  await context.checkNow(
    `rotate --ca --wait: another authority beside the old one after ${authority.milliseconds} ms`,
    () => ![firstServed, second].includes(third) && both.length === 2 && both.includes(firstAuthority),
  );
  const force = await rotate('--ca', '--force');
  const fourth = await commanded.servedOtherThan(third);
  const last = await commanded.authorities();
  await context.checkNow(
    `rotate --ca --force --wait: one authority that is none of those before after ${force.milliseconds} ms`,
    () => ![firstServed, second, third].includes(fourth) && last.length === 1 && !both.includes(last[0] ?? ''),
  );
  const { out } = await commanded.run('status', name);
  await context.checkNow('certs status shows the certificate, and the authority that is trusted', () =>
    [name, fourth.slice(0, 8), `${names.webhookConfiguration}=${last[0]?.slice(0, 8) ?? ''}`].every((part) =>
      out.includes(part),
    ),
  );
  return { leaf: leaf.milliseconds, authority: authority.milliseconds, force: force.milliseconds };
}

async function checkMistakes(commanded: CommandedOperator): Promise<void> {
  const mistakes: [argv: string[], says: RegExp][] = [
    [['rotate', name, '--force'], /--force: goes with --ca/],
    [['rotate', 'nobody'], /nobody does not exist; there are: commanded/],
    [['export-ca', 'nobody'], /nobody does not exist/],
    [['status', 'nobody'], /nobody does not exist/],
  ];
  for (const [argv, says] of mistakes) {
    const { code, errors } = await commanded.run(...argv);
    await commanded.context.checkNow(
      `certs ${argv.join(' ')}: exit status 2, and what to do`,
      () => says.test(errors) && found(String(code), '2'),
    );
  }
}

/** The operator is away and somebody empties the caBundle: status says so, export-ca has nothing, a rotation waits for its operator. */
async function checkTrouble(commanded: CommandedOperator): Promise<void> {
  const { context, operator } = commanded;
  const { client } = context;
  await operator.process.stop(30_000);
  const webhook = await webhookOf(client, name);
  await client.patch(webhook, 'merge', { webhooks: redirected(webhook, { caBundle: null }) });
  const status = await commanded.run('status', name);
  const bundle = await commanded.run('export-ca', name);
  const rotation = await commanded.run('rotate', name, '--wait', '--timeout', '2');
  await context.checkNow(
    'a caBundle is emptied while the operator is away: status ends with 1 and says what API servers do',
    () => status.code === 1 && status.errors.includes('the API server refuses the certificate'),
  );
  await context.checkNow(
    'export-ca ends with 1 and says where to look',
    () => bundle.code === 1 && bundle.out === '' && bundle.errors.includes('injector certs status says why'),
  );
  await context.checkNow(
    'rotate --wait --timeout 2 ends with 1, and the request stays',
    () => rotation.code === 1 && rotation.errors.includes('no operator has answered in time'),
  );
  await operator.restart();
  await context.check('the operator is back: the request is carried out, and status finds nothing', async () => {
    const report = await commanded.status();
    return report.problems.length === 0 && report.fingerprint === (await commanded.served());
  });
}

function fingerprintOf(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '').toLowerCase();
}
