/** What became of templates, and of the pods that were checked. */
export interface Figures {
  templates: number;
  /** For at least one of the pods. */
  rendered: number;
  pods: number;
  /** Pairs of pods of which the rule forbids the difference. */
  forbidden: number;
  checked: number;
  accepted: number;
  refused: number;
  /** Of a sample of the templates all pods that were rendered are checked: those that were accepted, and those of them that show the author's text in a value. */
  sampled: number;
  sampledAccepted: number;
  sampledVisible: number;
  /** Pods whose own name, owner or spec is hostile, and those of them that were accepted. */
  named: number;
  namedAccepted: number;
  /** Those of the accepted whose name equals an element's that is there anyway, so that both become one. */
  namedMerged: number;
}

export function noFigures(): Figures {
  return {
    templates: 0,
    rendered: 0,
    pods: 0,
    forbidden: 0,
    checked: 0,
    accepted: 0,
    refused: 0,
    sampled: 0,
    sampledAccepted: 0,
    sampledVisible: 0,
    named: 0,
    namedAccepted: 0,
    namedMerged: 0,
  };
}
