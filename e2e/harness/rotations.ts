import { formatRotateRequest, rotateAnnotation } from '../../src/api/injector-config/rotate-request.ts';
import { injectorConfigs, type InjectorConfigObject } from './injector-configs.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { waitFor } from './wait-for.ts';

/** Requests a new CA for an InjectorConfig, as a user does. Resolves when the rotation begins. */
export async function beginRotation({ client }: ScenarioContext, name: string) {
  const nonce = `at-${Date.now()}`;
  const annotations = { [rotateAnnotation]: formatRotateRequest({ target: 'authority', nonce }) };
  const config = await client.get(injectorConfigs, name);
  await client.patch(config, 'merge', { metadata: { annotations } });
  /** Returns the request's state; `Unseen` until the operator has seen the request. */
  const state = async (): Promise<string> => {
    const { status } = await client.get<InjectorConfigObject>(injectorConfigs, name);
    const { certificate } = (status ?? {}) as { certificate?: { rotateRequest?: { nonce: string; state: string } } };
    const request = certificate?.rotateRequest;
    return request?.nonce === nonce ? request.state : 'Unseen';
  };
  await waitFor('the rotation to begin', async () => (await state()) !== 'Unseen');
  const isDone = async () => (await state()) === 'Done';
  return { state, ended: () => waitFor('the authority to be replaced', isDone, { timeout: 90_000 }) };
}
