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
    /** Rendered pods of a sample of templates; those accepted; those that also show the text. */
    sampled: 0,
    sampledAccepted: 0,
    sampledVisible: 0,
    /** Pods with a hostile name, owner or spec, and the accepted ones. */
    named: 0,
    namedAccepted: 0,
    /** Accepted pods whose name equals an injected element's name, so that the two are merged. */
    namedMerged: 0,
  };
}
