/** What the command line's exit status says. */
export const exitCodes = {
  success: 0,
  /** The command ran and its answer is no: a template that fails, a cluster that refuses. */
  failure: 1,
  /** The call itself is wrong: an unknown option, a missing file. */
  usage: 2,
  /** The command did its work and found what nobody wants: pods that are not injected as they would be now, or would not be. */
  negative: 3,
  /** `check`: a pod would be refused. */
  refused: 4,
  /** `check`: what becomes of a pod cannot be told here. */
  unknown: 5,
} as const;
