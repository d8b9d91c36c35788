import { listOf } from '../kubernetes/admission-pod.ts';
import { amountIn, containerSum } from '../kubernetes/container-sum.ts';
import { objectAt } from '../objects/workload-kinds.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { Place } from './place.ts';
import { syntaxes } from './syntax.ts';

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
/** Reports whether a resource belongs to Kubernetes; the others have a domain of their own. */
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

/** Returns what is wrong with the name of a resource of a container. */
function nameProblem(name: string): string | undefined {
  const inQuotas = name.startsWith('requests.') ? '' : `requests.${name}`;
  if (name.includes('/')) return syntaxes.qualifiedName(isNative(name) ? name : inQuotas);
  const isStandard = ['cpu', 'memory', 'ephemeral-storage'].includes(name) || isHugePages(name);
  return isStandard ? undefined : 'must be a standard resource for containers';
}

/** Checks limits and requests (validateResourceRequirements). @param isOfPod not of a container */
export function checkAmounts(resources: JsonObject, place: Place, isOfPod: boolean): void {
  const limits = objectAt(resources, ['limits']);
  for (const part of ['limits', 'requests']) {
    const amounts = objectAt(resources, [part]);
    for (const [name, value] of Object.entries(amounts)) {
      const at = place.at(part).item(name);
      const problem = nameProblem(name);
      if (isOfPod && (!isNative(name) || name === 'ephemeral-storage')) at.report('Unsupported value', name);
      else if (problem !== undefined) at.invalid(name, problem);
      const amount = amountIn(amounts, name);
      if (amount < 0) at.invalid(value, 'must be greater than or equal to 0');
      if (!isNative(name) && !Number.isInteger(amount)) at.invalid(value, 'must be an integer');
      if (part === 'limits') continue;
      const mustBeEqual = !isNative(name) || isHugePages(name);
      const [isLimited, limit] = [Object.hasOwn(limits, name), amountIn(limits, name)];
      const relation = mustBeEqual ? 'equal to' : 'less than or equal to';
      if (isLimited && (amount > limit || (mustBeEqual && amount < limit)))
        place.at('requests').invalid(value, `must be ${relation} ${name} limit of ${String(limits[name])}`);
      if (!isLimited && mustBeEqual) place.at('limits').report('Required value', undefined, `${name} needs a limit`);
    }
  }
}

/** Compares sums of fractions, which are exact to less than this share. */
const exceeds = (one: number, other: number): boolean => one - other > Math.abs(other) * 1e-12;

/**
 * Checks the resources of the pod itself, which Kubernetes 1.34 introduced: requests cover those of
 * the containers, and no container has a higher limit (validatePodResources, defaultPodRequests).
 */
export function checkPodResources(spec: JsonObject, place: Place): void {
  checkAmounts(objectAt(spec, ['resources']), place.at('resources'), true);
  const [limits, requests] = ['limits', 'requests'].map((part) => objectAt(spec, ['resources', part]));
  for (const name of ['cpu', 'memory']) {
    const sum = containerSum(spec, 'requests', name);
    const [limit, request] = [limits?.[name], requests?.[name]];
    const at = place.at('resources', 'requests');
    if (request !== undefined && exceeds(sum, amountIn(requests ?? {}, name)))
      at.item(name).invalid(request, 'must cover the requests of the containers');
    if (limit === undefined) continue;
    // Without a request of the pod, the API server takes the sum.
    if (request === undefined && exceeds(sum, amountIn(limits ?? {}, name)))
      at.invalid(name, `the requests of the containers exceed the limit of ${String(limits?.[name])}`);
    for (const [index, container] of listOf(spec.containers).entries()) {
      const own = objectAt(container, ['resources', 'limits']);
      if (amountIn(own, name) <= amountIn(limits ?? {}, name)) continue;
      const where = place.at('containers').item(index, container.name).at('resources', 'limits').item(name);
      where.invalid(own[name], `must be less than or equal to pod limits of ${String(limits?.[name])}`);
    }
  }
}
