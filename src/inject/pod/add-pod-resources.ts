import { amountIn, containerSum } from '../kubernetes/container-sum.ts';
import { amountOf, canonicalQuantity } from '../kubernetes/quantity.ts';
import { objectAt } from '../objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';

const parts = ['requests', 'limits'] as const;

/**
 * Adds to the resources of a pod itself (`spec.resources`, Kubernetes 1.34) what the containers of
 * `after` need more than those of `before`. Changes only amounts that are set. A limit grows at
 * least by the requests, because the API server refuses a limit below them.
 * @param sign -1 subtracts instead
 */
export function addPodResources(pod: JsonObject, before: JsonObject, after: JsonObject, sign: 1 | -1 = 1): JsonObject {
  const spec = objectAt(pod, ['spec']);
  if (!isJsonObject(spec.resources)) return pod;
  const [less, more] = [objectAt(before, ['spec']), objectAt(after, ['spec'])];
  const added = (part: (typeof parts)[number], name: string): number =>
    containerSum(more, part, name) - containerSum(less, part, name);
  const resources = { ...spec.resources };
  for (const part of parts) {
    if (!isJsonObject(resources[part])) continue;
    const amounts = { ...resources[part] };
    for (const [name, amount] of Object.entries(amounts)) {
      const share = part === 'requests' ? added(part, name) : Math.max(added('requests', name), added(part, name));
      const total = amountIn(amounts, name) + sign * share;
      if (share !== 0 && amountOf(String(amount)) !== undefined && Number.isFinite(total))
        amounts[name] = quantityText(total, String(amount).endsWith('i'));
    }
    resources[part] = amounts;
  }
  return { ...pod, spec: { ...spec, resources } };
}

/** The largest amount whose billionths are exact, such as any number of CPUs. */
const largestExact = Number.MAX_SAFE_INTEGER / 1e9;

/** Returns an amount as a quantity, rounded to billionths, or up if they are not exact. */
function quantityText(amount: number, isBinary: boolean): string {
  if (!Number.isInteger(amount) && amount < largestExact)
    return canonicalQuantity(`${BigInt(Math.round(amount * 1e9))}n`);
  const whole = Math.ceil(amount);
  return canonicalQuantity(isBinary && whole % 1024 === 0 ? `${BigInt(whole / 1024)}Ki` : `${BigInt(whole)}`);
}
