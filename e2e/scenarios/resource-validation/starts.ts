import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../harness/free-port.ts';
import type { Installation } from '../../harness/installation.ts';
import type { OperatorProcess } from '../../harness/operator-process.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** Operators that cannot start: a port in use, an API server that is not there, a kubeconfig that is none. */
export async function checkStarts(
  context: ScenarioContext,
  installation: Installation,
  running: OperatorProcess,
): Promise<void> {
  const { run } = context.cluster;
  // Of two equal flags the last one counts.
  const inUse = await installation.launchOperator({
    name: 'port-in-use',
    flags: [`--webhook-port=${running.webhookPort}`],
  });
  await context.check('a port in use: exit code other than 0, and one line that names the port', async () => {
    const { code } = await inUse.process.waitForEnd(15_000);
    return (
      code !== 0 &&
      errorLines(inUse).some((line) => line.includes(String(running.webhookPort)) && /in use|EADDRINUSE/.test(line))
    );
  });

  const missing = await installation.launchOperator({
    name: 'no-kubeconfig',
    kubeconfig: join(run.path, 'missing.kubeconfig'),
  });
  await context.check(
    'a kubeconfig that does not exist: exit code other than 0, and one line that names the file',
    async () => {
      const { code } = await missing.process.waitForEnd(15_000);
      return code !== 0 && errorLines(missing).some((line) => line.includes('missing.kubeconfig'));
    },
  );

  const port = await freePort();
  const unreachable = await installation.launchOperator({
    name: 'unreachable',
    kubeconfig: kubeconfigOfNobody(run.path, port),
  });
  await context.check('an unreachable API server: one clear line with its address', () =>
    errorLines(unreachable).some((line) => line.includes(`127.0.0.1:${port}`)),
  );
  await context.check('and it is retried, not ready meanwhile, without a stack trace', async () => {
    const ready = await fetch(`http://127.0.0.1:${unreachable.healthPort}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
    return unreachable.process.running && ready !== 200 && !unreachable.process.log().includes('    at ');
  });
  await unreachable.process.kill();
}

/** What a person reads in the log: every line but the debug ones and the harness's own header. */
function errorLines(operator: OperatorProcess): string[] {
  return operator.process
    .log()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('--- ') && !/\bdebug\b/i.test(line));
}

/** A kubeconfig whose server is a port that nobody listens on. */
function kubeconfigOfNobody(directory: string, port: number): string {
  const file = join(directory, 'unreachable.kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'nobody', cluster: { server: `https://127.0.0.1:${port}` } }],
    users: [{ name: 'nobody', user: { token: 'none' } }],
    contexts: [{ name: 'nobody', context: { cluster: 'nobody', user: 'nobody' } }],
    'current-context': 'nobody',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}
