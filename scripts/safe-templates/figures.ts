/** What became of templates, and of the pods that were checked. */
export type Figures = ReturnType<typeof noFigures>;

export function noFigures() {
  return {
    templates: 0,
    /** For at least one of the pods. */
    rendered: 0,
    pods: 0,
    /** Pairs of pods of which the rule forbids the difference. */
    forbidden: 0,
    checked: 0,
    accepted: 0,
    refused: 0,
    /** Of a sample of the templates all pods that were rendered are checked: those that were accepted, and those of them that show the author's text in a value. */
    sampled: 0,
    sampledAccepted: 0,
    sampledVisible: 0,
    /** Pods whose own name, owner or spec is hostile, and those of them that were accepted. */
    named: 0,
    namedAccepted: 0,
    /** Those of the accepted whose name equals an element's that is there anyway, so that both become one. */
    namedMerged: 0,
  };
}
