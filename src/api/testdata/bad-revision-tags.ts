/** A RevisionTag that the CRD's structural schema (`schema`) or a CEL rule (`rule`) refuses. */
export interface BadRevisionTag {
  readonly title: string;
  readonly name: string;
  readonly spec: Record<string, unknown>;
  readonly field: string;
  readonly refusedBy: 'schema' | 'rule';
  readonly message: RegExp;
}

const revision = '1-24';
const canary = (...steps: unknown[]) => ({ revision, strategy: { canary: { steps } } });
const steps = 'spec.strategy.canary.steps';
const analysis = (fields: object) => ({ revision, strategy: { canary: { steps: [{ weight: 5 }], analysis: fields } } });
const windows = (...each: object[]) => ({
  revision,
  strategy: { windows: each.map((fields) => ({ from: '01:00', to: '05:00', ...fields })) },
});

export const badRevisionTags: readonly BadRevisionTag[] = [
  { title: 'a spec without a revision', name: 'prod', spec: {}, field: 'spec.revision', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'an empty revision', name: 'prod', spec: { revision: '' }, field: 'spec.revision', refusedBy: 'schema', message: /1|should match|DNS-1123/ },
  { title: 'a revision in capitals', name: 'prod', spec: { revision: 'Canary' }, field: 'spec.revision', refusedBy: 'schema', message: /DNS-1123|should match/ },
  { title: 'a revision of 64 characters', name: 'prod', spec: { revision: 'r'.repeat(64) }, field: 'spec.revision', refusedBy: 'schema', message: /63/ },
  { title: 'an operator class with a dot', name: 'prod', spec: { revision, operatorClass: 'a.b' }, field: 'spec.operatorClass', refusedBy: 'schema', message: /DNS-1123|should match/ },
  { title: 'a string for a boolean', name: 'default', spec: { revision, enableNamespacesByDefault: 'yes' }, field: 'spec.enableNamespacesByDefault', refusedBy: 'schema', message: /boolean/ },
  { title: 'a name with a dot', name: 'a.b', spec: { revision }, field: 'metadata.name', refusedBy: 'rule', message: /label value/ },
  { title: 'a name of 64 characters', name: 't'.repeat(64), spec: { revision }, field: 'metadata.name', refusedBy: 'rule', message: /at most 63/ },
  { title: 'a tag that names itself as revision', name: 'prod', spec: { revision: 'prod' }, field: 'spec.revision', refusedBy: 'rule', message: /own name/ },
  { title: 'enableNamespacesByDefault on another tag', name: 'prod', spec: { revision, enableNamespacesByDefault: true }, field: 'spec.enableNamespacesByDefault', refusedBy: 'rule', message: /only on tag default/ },
  { title: 'a canary without steps', name: 'prod', spec: { revision, strategy: { canary: {} } }, field: steps, refusedBy: 'schema', message: /[Rr]equired|array/ },
  { title: 'an empty list of steps', name: 'prod', spec: canary(), field: steps, refusedBy: 'schema', message: /at least 1|>=1/ },
  { title: 'more than 20 steps', name: 'prod', spec: canary(...Array.from({ length: 21 }, (_, index) => ({ weight: index + 1 }))), field: steps, refusedBy: 'schema', message: /at most 20|20 items|<=20/ },
  { title: 'a weight of 101', name: 'prod', spec: canary({ weight: 101 }), field: `${steps}[0].weight`, refusedBy: 'schema', message: /100/ },
  { title: 'a negative weight', name: 'prod', spec: canary({ weight: -1 }), field: `${steps}[0].weight`, refusedBy: 'schema', message: /0/ },
  { title: 'a fractional weight', name: 'prod', spec: canary({ weight: 0.5 }), field: `${steps}[0].weight`, refusedBy: 'schema', message: /int/ },
  { title: 'a weight as a string', name: 'prod', spec: canary({ weight: '25%' }), field: `${steps}[0].weight`, refusedBy: 'schema', message: /number|integer/ },
  { title: 'a step without a weight', name: 'prod', spec: canary({ pause: '10m' }), field: `${steps}[0].weight`, refusedBy: 'schema', message: /[Rr]equired|number/ },
  { title: 'a pause that is not a duration', name: 'prod', spec: canary({ weight: 5, pause: 'a while' }), field: `${steps}[0].pause`, refusedBy: 'schema', message: /10m|should match/ },
  { title: 'a pause without a unit', name: 'prod', spec: canary({ weight: 5, pause: '10' }), field: `${steps}[0].pause`, refusedBy: 'schema', message: /10m|should match/ },
  { title: 'a pause in days', name: 'prod', spec: canary({ weight: 5, pause: '1d' }), field: `${steps}[0].pause`, refusedBy: 'schema', message: /10m|should match/ },
  { title: 'a step with weight 0 and without shadow', name: 'prod', spec: canary({ weight: 0 }, { weight: 5 }), field: steps, refusedBy: 'rule', message: /no evidence/ },
  { title: 'a shadow step with a weight', name: 'prod', spec: canary({ weight: 5, shadow: true }), field: steps, refusedBy: 'rule', message: /with shadow must have weight 0/ },
  { title: 'a smaller weight than the previous step', name: 'prod', spec: canary({ weight: 25 }, { weight: 5 }), field: steps, refusedBy: 'rule', message: /larger than the previous one/ },
  { title: 'the same weight as the previous step', name: 'prod', spec: canary({ weight: 25 }, { weight: 25 }), field: steps, refusedBy: 'rule', message: /larger than the previous one/ },
  { title: 'a shadow step after a step with a weight', name: 'prod', spec: canary({ weight: 5 }, { weight: 0, shadow: true }), field: steps, refusedBy: 'rule', message: /shadow steps must come first/ },
  { title: 'an analysis.readyTimeout of 9s', name: 'prod', spec: analysis({ readyTimeout: '9s' }), field: 'spec.strategy.canary.analysis.readyTimeout', refusedBy: 'rule', message: /at least 10s/ },
  { title: 'an analysis.readyTimeout that is not a duration', name: 'prod', spec: analysis({ readyTimeout: 'soon' }), field: 'spec.strategy.canary.analysis.readyTimeout', refusedBy: 'schema', message: /duration|should match/ },
  { title: 'minimumPods: 0', name: 'prod', spec: analysis({ minimumPods: 0 }), field: 'spec.strategy.canary.analysis.minimumPods', refusedBy: 'schema', message: /1/ },
  { title: 'maximumFailingPercent: 101', name: 'prod', spec: analysis({ maximumFailingPercent: 101 }), field: 'spec.strategy.canary.analysis.maximumFailingPercent', refusedBy: 'schema', message: /100/ },
  { title: 'perNamespace: 0', name: 'prod', spec: { revision, strategy: { restart: { perNamespace: 0 } } }, field: 'spec.strategy.restart.perNamespace', refusedBy: 'schema', message: /1/ },
  { title: 'maxUnavailableWorkloads: 1001', name: 'prod', spec: { revision, strategy: { restart: { maxUnavailableWorkloads: 1001 } } }, field: 'spec.strategy.restart.maxUnavailableWorkloads', refusedBy: 'schema', message: /1000/ },
  { title: 'a negative minReadySeconds', name: 'prod', spec: { revision, strategy: { restart: { minReadySeconds: -1 } } }, field: 'spec.strategy.restart.minReadySeconds', refusedBy: 'schema', message: /0/ },
  { title: 'a restart.readyTimeout that is not a duration', name: 'prod', spec: { revision, strategy: { restart: { readyTimeout: '10 minutes' } } }, field: 'spec.strategy.restart.readyTimeout', refusedBy: 'schema', message: /duration|should match/ },
  { title: 'a restart.readyTimeout of 1s', name: 'prod', spec: { revision, strategy: { restart: { readyTimeout: '1s' } } }, field: 'spec.strategy.restart.readyTimeout', refusedBy: 'rule', message: /at least 10s/ },
  { title: 'an empty list of windows', name: 'prod', spec: windows(), field: 'spec.strategy.windows', refusedBy: 'schema', message: /at least 1|>=1/ },
  { title: 'a window on an unknown day', name: 'prod', spec: windows({ days: ['Saturday'] }), field: 'spec.strategy.windows[0].days[0]', refusedBy: 'schema', message: /Sat/ },
  { title: 'a window without days', name: 'prod', spec: windows({ days: [] }), field: 'spec.strategy.windows[0].days', refusedBy: 'schema', message: /at least 1|>=1/ },
  { title: 'a window without an end', name: 'prod', spec: { revision, strategy: { windows: [{ from: '01:00' }] } }, field: 'spec.strategy.windows[0].to', refusedBy: 'schema', message: /[Rr]equired|string/ },
  { title: 'a window that begins at 24:00', name: 'prod', spec: windows({ from: '24:00' }), field: 'spec.strategy.windows[0].from', refusedBy: 'schema', message: /22:00|should match/ },
  { title: 'a window that ends at 24:01', name: 'prod', spec: windows({ to: '24:01' }), field: 'spec.strategy.windows[0].to', refusedBy: 'schema', message: /24:00|should match/ },
  { title: 'a time zone that is an offset', name: 'prod', spec: windows({ timeZone: '+01:00' }), field: 'spec.strategy.windows[0].timeZone', refusedBy: 'schema', message: /Europe\/Berlin|should match/ },
  { title: 'a time zone that does not exist', name: 'prod', spec: windows({ timeZone: 'Europe/Bonn' }), field: 'spec.strategy.windows', refusedBy: 'rule', message: /existing time zone/ },
  { title: 'the time zone of the API server', name: 'prod', spec: windows({ timeZone: 'Local' }), field: 'spec.strategy.windows', refusedBy: 'rule', message: /existing time zone/ },
  { title: 'a window without length', name: 'prod', spec: windows({ from: '05:00' }), field: 'spec.strategy.windows', refusedBy: 'rule', message: /must differ/ },
  { title: 'an unknown rollback.restart', name: 'prod', spec: { revision, strategy: { rollback: { restart: 'All' } } }, field: 'spec.strategy.rollback.restart', refusedBy: 'schema', message: /None/ },
  { title: 'rollback.restart without a canary', name: 'prod', spec: { revision, strategy: { rollback: { restart: 'Canary' } } }, field: 'spec.strategy.rollback.restart', refusedBy: 'rule', message: /requires spec.strategy.canary/ },
];
