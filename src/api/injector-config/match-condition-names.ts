/** Names of the matchConditions of every webhook. spec.webhook.matchConditions must not use them. */
export const matchConditionNames = {
  hostNetwork: 'not-host-network',
  optedOut: 'not-opted-out',
  mirrorPod: 'not-mirror-pod',
} as const;
