import { formatRotateRequest, rotateAnnotation } from '../../src/api/injector-config/rotate-request.ts';
import { injectorConfigs, type InjectorConfigObject } from './injector-configs.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { waitFor } from './wait-for.ts';

/** The replacement of an authority that a person has asked for. */
export class Rotation {
  readonly #context: ScenarioContext;
  readonly #name: string;
  readonly #nonce: string;

  private constructor(context: ScenarioContext, name: string, nonce: string) {
    this.#context = context;
    this.#name = name;
    this.#nonce = nonce;
  }

  /** Asks for it, for the authority of an InjectorConfig; it is under way when this resolves. */
  static async begin(context: ScenarioContext, name: string): Promise<Rotation> {
    const rotation = new Rotation(context, name, `at-${Date.now()}`);
    const annotations = { [rotateAnnotation]: formatRotateRequest({ target: 'authority', nonce: rotation.#nonce }) };
    const config = await context.client.get(injectorConfigs, name);
    await context.client.patch(config, 'merge', { metadata: { annotations } });
    await waitFor('the rotation to begin', async () => (await rotation.state()) !== 'Unseen');
    return rotation;
  }

  /** `Unseen` until the operator has seen it. */
  async state(): Promise<string> {
    const { status } = await this.#context.client.get<InjectorConfigObject>(injectorConfigs, this.#name);
    const { certificate } = (status ?? {}) as { certificate?: { rotateRequest?: { nonce: string; state: string } } };
    const { nonce, state = 'Unseen' } = certificate?.rotateRequest ?? {};
    return nonce === this.#nonce ? state : 'Unseen';
  }

  async ended(): Promise<void> {
    await waitFor('the authority to be replaced', async () => (await this.state()) === 'Done', { timeout: 90_000 });
  }
}
