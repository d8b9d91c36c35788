import { paths } from '../e2e/harness/paths.ts';
import type { ScenarioContext } from '../e2e/harness/scenario-context.ts';
import { found } from '../e2e/harness/wait-for.ts';

/**
 * Upgrades keep the number of pods that an autoscaler has set. It has no metrics here, so it only keeps to its bounds.
 * @param upgrade helm's command that upgrades the release in the namespace `system`
 */
export async function checkAutoscaler(
  context: ScenarioContext,
  shell: (line: string) => Promise<string>,
  upgrade: string,
  system: string,
): Promise<void> {
  const deployment = `-n ${system} deployment/injector-operator`;
  const has = async (pods: number): Promise<true> =>
    found(await shell(`kubectl get ${deployment} -o jsonpath={.spec.replicas}`), String(pods));
  const values = (fewest: number): string =>
    `--set mode=all,all.autoscaling.enabled=true,all.autoscaling.minReplicas=${fewest}`;
  await shell(`${upgrade} ${values(1)}`);
  await context.checkNow('control: an autoscaler that is simply turned on leaves one pod', () => has(1));
  await shell(`${upgrade} ${values(3)}`);
  await context.check('an autoscaler raises the pods to minReplicas', () => has(3));
  await shell(`${upgrade} ${values(3)}`);
  await context.checkNow('helm upgrade keeps what it has set', () => has(3));
  await shell(`${upgrade} --force-conflicts && kubectl scale ${deployment} --replicas=4 && ${upgrade} ${values(3)}`);
  await context.checkNow('after kubectl scale to another number, turning it on keeps the pods', () => has(4));
  await shell(`node "${paths.injector}" install -n ${system} --take-ownership --timeout 0 ${values(3)}`);
  await context.checkNow('injector install takes the release over and keeps them', () => has(4));
  await shell(`${upgrade} --install --take-ownership --force-conflicts ${values(3)}`);
  await context.checkNow('helm takes it back and keeps them', () => has(4));
}
