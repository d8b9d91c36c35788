/** Counts of templates and of checked pods. */
export type Figures = ReturnType<typeof noFigures>;

export function noFigures() {
  return {
    templates: 0,
    /** Templates that render for at least one pod. */
    rendered: 0,
    pods: 0,
    /** Pairs of pods whose difference the rule forbids. */
    forbidden: 0,
    checked: 0,
    accepted: 0,
    refused: 0,
    /** The pods from a sample of templates that render. */
    sampled: 0,
    sampledAccepted: 0,
    /** The accepted pods that also show the author's text. */
    sampledVisible: 0,
    /** Pods with a hostile name, owner or spec. */
    named: 0,
    namedAccepted: 0,
  };
}
