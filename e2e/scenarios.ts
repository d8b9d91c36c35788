import type { Scenario } from './harness/scenario.ts';
import { controlPlane } from './scenarios/control-plane.ts';

/** Every scenario, in the order in which they run. */
export const scenarios: Scenario[] = [controlPlane];
