/** The names of generated matchConditions, which spec.webhook.matchConditions must not use. */
export const matchConditionNames = {
  hostNetwork: 'not-host-network',
  optedOut: 'not-opted-out',
  mirrorPod: 'not-mirror-pod',
  replaceable: 'can-be-held',
  irreplaceable: 'cannot-be-held',
} as const;
