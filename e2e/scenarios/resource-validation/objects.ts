import { badInjectorConfigs, type BadInjectorConfig } from '../../../src/api/testdata/bad-injector-configs.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** Creates objects that must be refused, and reads whether the refusal names the field; returns how many were refused so. */
export async function checkObjects(
  context: ScenarioContext,
  refusedBy: BadInjectorConfig['refusedBy'][],
): Promise<number> {
  const cases = badInjectorConfigs.filter((each) => refusedBy.includes(each.refusedBy));
  const wrong: string[] = [];
  const [first] = cases;
  if (refusedBy.includes('webhook') && first !== undefined) {
    // It is published when the operator is ready; API servers learn of it a moment later.
    await context.check(
      'the validating webhook is in force',
      async () => (await creationError(context, first)) !== undefined,
    );
  }
  for (const each of cases) {
    const message = await creationError(context, each);
    if (message === undefined) wrong.push(`${each.title}: accepted`);
    else if (!message.includes(each.field) || !each.message.test(message)) wrong.push(`${each.title}: ${message}`);
  }
  const whom = refusedBy.includes('webhook') ? 'the validating webhook' : "the API server's own schema and rules";
  await context.check(
    `${cases.length} bad InjectorConfigs are refused by ${whom}, each with its field`,
    () => {
      if (wrong.length > 0) throw new Error(`\n${wrong.join('\n')}`);
      return true;
    },
    { timeout: 0 },
  );
  return cases.length;
}

async function creationError(
  context: ScenarioContext,
  { name = 'bad', spec }: BadInjectorConfig,
): Promise<string | undefined> {
  try {
    const object = { apiVersion: 'sidecar-injector.io/v1alpha1', kind: 'InjectorConfig', metadata: { name }, spec };
    await context.client.create(object, { dryRun: true });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 422) return error.message;
    throw error;
  }
}
