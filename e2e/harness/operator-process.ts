import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { freePort } from './free-port.ts';
import { answersOk, ManagedProcess } from './managed-process.ts';
import { paths } from './paths.ts';
import type { RunDirectory } from './run-directory.ts';

/** A flag that shortens Leases from 15 s to 5 s, for scenarios in which a leader dies. */
export const shortLeases = '--test-lease-time-scale=3';

export type OperatorRole = 'all' | 'controller' | 'webhook';

export interface OperatorSettings {
  /** The replica's name in messages, which is also its identity and the name of its log file. */
  name: string;
  role?: OperatorRole;
  /** The path of the operator's bundle; default: the bundle of this checkout. */
  bundle?: string;
  namespace: string;
  kubeconfig: string;
  context?: string | undefined;
  /** The host at which the API server calls this machine; undefined to use the Service's pods. */
  advertiseHost: string | undefined;
  /** The port that the API server calls, such as a balancer's; default: the webhook port. */
  advertisePort?: number;
  flags?: string[];
  environment?: Record<string, string>;
}

/** Starts the bundled operator. Does not wait until it is ready. */
export async function startOperatorProcess(settings: OperatorSettings, run: RunDirectory) {
  const { bundle = paths.injector } = settings;
  if (!existsSync(bundle)) throw new Error(`${bundle} is missing: run \`npm run build\``);
  const [webhookPort, healthPort] = [await freePort(), await freePort()];
  const operator = new ManagedProcess({
    name: settings.name,
    command: process.execPath,
    arguments: [bundle, ...operatorArguments(settings, webhookPort, healthPort)],
    run,
    environment: { NODE_ENV: 'production', ...settings.environment },
  });
  const health = `http://127.0.0.1:${healthPort}`;
  const waitUntilReady = (timeout = 150_000) => operator.waitUntilReady(() => answersOk(`${health}/readyz`), timeout);
  operator.start();
  return {
    process: operator,
    webhookPort,
    healthPort,
    waitUntilReady,
    restart: async () => {
      operator.start();
      await waitUntilReady();
    },
    metrics: async () => (await fetch(`${health}/metrics`)).text(),
    /** Returns the resident memory in MiB. */
    residentMemory: () => residentMemory(operator.pid),
  };
}

export type OperatorProcess = Awaited<ReturnType<typeof startOperatorProcess>>;

function operatorArguments(settings: OperatorSettings, webhookPort: number, healthPort: number): string[] {
  return [
    'operator',
    `--role=${settings.role ?? 'all'}`,
    // A restarted container keeps its pod's name.
    `--identity=${settings.name}`,
    `--namespace=${settings.namespace}`,
    `--kubeconfig=${settings.kubeconfig}`,
    ...(settings.context === undefined ? [] : [`--context=${settings.context}`]),
    ...(settings.advertiseHost === undefined
      ? []
      : [`--advertise=${settings.advertiseHost}:${settings.advertisePort ?? webhookPort}`]),
    '--bind-address=127.0.0.1',
    `--webhook-port=${webhookPort}`,
    `--health-port=${healthPort}`,
    // As in production. At level debug, every request would log a line.
    '--log-level=info',
    '--log-format=text',
    ...(settings.flags ?? []),
  ];
}

function residentMemory(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const status = `/proc/${pid}/status`;
  const kilobytes = existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Math.round(Number(kilobytes ?? 0) / 1024);
}
