import type { ScenarioContext } from './scenario-context.ts';

/** A story told against a real API server, whose end proves something. */
export interface Scenario {
  name: string;
  /** One line for `--list`. */
  about: string;
  /**
   * Why it must not run on a cluster that others use; such a scenario refuses to run on the user's own cluster unless told.
   * Undefined for scenarios that touch nothing but their own namespaces.
   */
  destructive?: string;
  /** It stops or kills parts of the control plane: it gets one of its own. */
  ownControlPlane?: boolean;
  /**
   * What `--full` makes of it, in a few words with its size and time: `1,000,000 malformed requests, 15 minutes`. A scenario that has this is a gate of `make gates`
   * and reads `context.size`; undefined when there is one size only.
   */
  full?: string;
  /** Throws when something falls short; returns the figures for its last line. */
  run: (context: ScenarioContext) => Promise<string>;
}
