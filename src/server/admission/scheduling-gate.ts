import type { JsonPatchOperation } from '../../inject/patch/json-patch.ts';
import { isJsonObject, type JsonObject } from '../../inject/patch/json-value.ts';

/**
 * Returns the operations that remove a scheduling gate from a pod (Pod field spec.schedulingGates).
 * @param pod the pod after all other operations
 */
export function removeGate(pod: JsonObject, gate: string | undefined): JsonPatchOperation[] {
  const gates = gate !== undefined && isJsonObject(pod.spec) ? pod.spec.schedulingGates : undefined;
  if (!Array.isArray(gates)) return [];
  const found = gates.flatMap((each, index) => (isJsonObject(each) && each.name === gate ? [index] : []));
  // Remove the last first, so that the other indexes stay valid.
  return found.reverse().map((index) => ({ op: 'remove', path: `/spec/schedulingGates/${index}` }));
}
