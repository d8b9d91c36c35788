import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '../e2e/harness/build.ts';
import { freePort } from '../e2e/harness/free-port.ts';
import { answersOk, ManagedProcess } from '../e2e/harness/managed-process.ts';
import type { ScenarioContext } from '../e2e/harness/scenario-context.ts';

/** Starts a registry on this machine with in-memory storage. Returns its address. */
export async function startRegistry(context: ScenarioContext, folder: string): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  const settings = join(folder, 'registry.yaml');
  writeFileSync(settings, `version: 0.1\nstorage: {inmemory: {}}\nhttp: {addr: '${address}'}\n`);
  const command = await buildProgram('registry', (line) => {
    context.say(line);
  });
  const { run } = context.cluster;
  const registry = new ManagedProcess({ name: 'registry', command, arguments: ['serve', settings], run });
  registry.start();
  context.atEnd(() => registry.kill());
  await registry.waitUntilReady(() => answersOk(`http://${address}/v2/`), 60_000);
  return address;
}
