import { paths } from '../e2e/harness/paths.ts';
import type { ScenarioContext } from '../e2e/harness/scenario-context.ts';
import { found } from '../e2e/harness/wait-for.ts';

/**
 * Checks that upgrades keep the replicas that an autoscaler set. Without metrics, an autoscaler
 * only enforces its bounds. `upgrade` is the helm command for the release in namespace `system`.
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
  await context.checkNow('control: enabling an autoscaler without more leaves one pod', () => has(1));
  await shell(`${upgrade} ${values(3)}`);
  await context.check('an autoscaler scales the Deployment up to minReplicas', () => has(3));
  await shell(`${upgrade} ${values(3)}`);
  await context.checkNow('helm upgrade keeps the replicas that the autoscaler set', () => has(3));
  await shell(`${upgrade} --force-conflicts && kubectl scale ${deployment} --replicas=4 && ${upgrade} ${values(3)}`);
  await context.checkNow('after kubectl scale, enabling the autoscaler keeps the replicas', () => has(4));
  await shell(`node "${paths.injector}" install -n ${system} --take-ownership --timeout 0 ${values(3)}`);
  await context.checkNow('injector install takes over the release and keeps the replicas', () => has(4));
  await shell(`${upgrade} --install --take-ownership --force-conflicts ${values(3)}`);
  await context.checkNow('helm takes the release back and keeps the replicas', () => has(4));
}
