import type { Condition } from '../../../src/api/kubernetes.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import { dryRun } from '../../harness/admissions.ts';
import { applyObject } from '../../harness/apply.ts';
import { condition, injectorConfigs, type InjectorConfigObject } from '../../harness/injector-configs.ts';
import { isInjected } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod } from '../../harness/workloads.ts';
import type { Bomb } from './bombs.ts';

export const bombName = ({ name }: Bomb): string => `bomb-${name}`;

/** Applies a bomb, with the ConfigMap that it refers to. @returns whether the API server took it */
export async function plant({ client }: ScenarioContext, namespace: string, bomb: Bomb): Promise<boolean> {
  const name = bombName(bomb);
  if (bomb.texts !== undefined) {
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: bomb.texts });
  }
  const injection = Object.fromEntries(
    Object.entries(bomb.injection).map(([field, value]): [string, unknown] =>
      field.endsWith('From') ? [field, { namespace, name, ...(value as object) }] : [field, value],
    ),
  );
  const config: InjectorConfigObject = {
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'InjectorConfig',
    metadata: { name },
    spec: { injection },
  };
  try {
    await applyObject(client, config);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 422) return false;
    throw error;
  }
}

/** What is said of a bomb's templates; undefined while nothing is. */
export async function verdictOf({ client }: ScenarioContext, bomb: Bomb): Promise<Condition | undefined> {
  const config = await client.get<InjectorConfigObject>(injectorConfigs, bombName(bomb));
  const found = condition(config, 'TemplatesValid');
  return found?.observedGeneration === config.metadata.generation ? found : undefined;
}

/** What becomes of a pod that a bomb's webhook takes: a clear refusal, or a pod. */
export async function answerFor(
  { client }: ScenarioContext,
  namespace: string,
  annotations: Record<string, string>,
): Promise<string> {
  const pod = barePod(namespace, 'probe');
  try {
    const made = await dryRun(client, { ...pod, metadata: { ...pod.metadata, annotations } });
    return isInjected(made) ? 'injected' : 'plain';
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}
