import { join } from 'node:path';
import type { Condition, KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { forceDeleteAnnotation } from '../../src/api/names.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { applyObject, readObjects } from './apply.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { untilActive } from './until-active.ts';
import { paths } from './paths.ts';
import { found, waitFor } from './wait-for.ts';

export interface InjectorConfigObject extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & { name: string };
  spec: {
    injection: Record<string, unknown>;
    webhook?: Record<string, unknown>;
    certificate?: Record<string, unknown>;
    [field: string]: unknown;
  };
  status?: {
    observedGeneration?: number;
    conditions?: Condition[];
    config?: { hash?: string; servedBy?: number };
    [field: string]: unknown;
  };
}

export const injectorConfigs = resourceKind('sidecar-injector.io/v1alpha1', 'InjectorConfig');

/** Returns the InjectorConfig in a file of examples/. */
export function exampleConfig(file: string): InjectorConfigObject {
  const found = readObjects(join(paths.examples, file)).find((object) => object.kind === 'InjectorConfig');
  if (found === undefined) throw new Error(`examples/${file} contains no InjectorConfig`);
  return found as InjectorConfigObject;
}

export function injectorConfig(name: string, spec: InjectorConfigObject['spec']): InjectorConfigObject {
  return { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'InjectorConfig', metadata: { name }, spec };
}

/** Builds a small InjectorConfig that injects one container, named after the InjectorConfig. */
export function smallConfig(name: string, webhook: Record<string, unknown> = {}): InjectorConfigObject {
  const template = `spec:\n  containers:\n  - name: ${name}\n    image: example.com/${name}:1\n`;
  return injectorConfig(name, { injection: { templates: { sidecar: template } }, webhook });
}

/** Applies an InjectorConfig. Waits until it is Ready and the API server uses its webhook. */
export async function applyUntilReady(client: ApiClient, config: InjectorConfigObject): Promise<InjectorConfigObject> {
  const { metadata } = await applyObject(client, config);
  const ready = await waitForCondition(client, config.metadata.name, 'Ready', 'True', metadata.generation);
  await untilActive(client);
  return ready;
}

/** Deletes an InjectorConfig, even if it is in use, with the force-delete annotation. */
export async function deleteForced(
  client: ApiClient,
  config: Pick<KubernetesObject, 'apiVersion' | 'kind' | 'metadata'>,
): Promise<void> {
  await client.patch(config, 'merge', { metadata: { annotations: { [forceDeleteAnnotation]: 'true' } } });
  await client.delete(config);
}

/** Waits until a condition has a status that the operator set for this or a later generation. */
export async function waitForCondition(
  client: ApiClient,
  name: string,
  type: string,
  status: Condition['status'],
  generation = 0,
  timeout = 150_000,
): Promise<InjectorConfigObject> {
  const withCondition = async () => {
    const config = await client.get<InjectorConfigObject>(injectorConfigs, name);
    const found = condition(config, type);
    const observed = found?.observedGeneration ?? config.status?.observedGeneration ?? 0;
    if (found?.status === status && observed >= generation) return config;
    throw new Error(`its conditions are ${JSON.stringify(config.status?.conditions ?? 'nothing')}`);
  };
  return waitFor(`InjectorConfig ${name} to have ${type}=${status}`, withCondition, { timeout });
}

export function condition(config: InjectorConfigObject, type: string): Condition | undefined {
  return config.status?.conditions?.find((each) => each.type === type);
}

/** Reads an InjectorConfig and returns one of its conditions. */
export async function conditionOf(client: ApiClient, name: string, type: string): Promise<Condition | undefined> {
  return condition(await client.get<InjectorConfigObject>(injectorConfigs, name), type);
}

/** Checks that a condition matches `expected` when it is formatted as `False (Reason) message`. */
export async function checkCondition(
  context: ScenarioContext,
  name: string,
  type: string,
  says: string,
  expected: RegExp,
): Promise<void> {
  await context.check(`condition ${type} reports that ${says}`, async () => {
    const found = await conditionOf(context.client, name, type);
    const text = `${found?.status ?? ''} (${found?.reason ?? ''}) ${found?.message ?? ''}`;
    if (!expected.test(text)) throw new Error(`the condition is ${text}`);
    return true;
  });
}

/** Returns the Events about an InjectorConfig. */
export async function eventsAbout(client: ApiClient, name: string): Promise<{ type: string; message: string }[]> {
  const fieldSelector = `involvedObject.kind=InjectorConfig,involvedObject.name=${name}`;
  const events = resourceKind('v1', 'Event');
  return (await client.listAll<{ type: string; message: string }>(events, { fieldSelector })).items;
}

/** Checks that the latest edit of an InjectorConfig is refused, and TemplatesValid says why. */
export async function checkRefused(
  context: ScenarioContext,
  name: string,
  statement: string,
  said: RegExp,
): Promise<void> {
  await context.check(statement, async () => {
    const config = await context.client.get<InjectorConfigObject>(injectorConfigs, name);
    const valid = condition(config, 'TemplatesValid');
    if (valid?.observedGeneration !== config.metadata.generation || valid?.status !== 'False') return undefined;
    if (!said.test(valid.message)) throw new Error(valid.message);
    return found(condition(config, 'Ready')?.status ?? '', 'False');
  });
}
