import type { UsageStatus } from '../../api/usage-status.ts';

/** Nobody counts: what statuses said before is taken out of them. */
export const uncounted: UsageSource = { injectorConfig: () => ({}), tag: () => ({}) };

/** What a status may say now of who uses an object; undefined: as it was, since nobody has counted yet. */
export interface UsageSource {
  injectorConfig(name: string): UsageStatus | undefined;
  tag(name: string): UsageStatus | undefined;
}
