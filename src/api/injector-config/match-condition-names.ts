/** The matchConditions of every webhook; spec.webhook.matchConditions must not use their names. */
export const matchConditionNames = {
  hostNetwork: 'not-host-network',
  optedOut: 'not-opted-out',
  mirrorPod: 'not-mirror-pod',
} as const;
