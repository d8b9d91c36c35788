/** Names of the matchConditions that every webhook has; an InjectorConfig's own conditions must use others. */
export const matchConditionNames = {
  hostNetwork: 'not-host-network',
  optedOut: 'not-opted-out',
  mirrorPod: 'not-mirror-pod',
} as const;
