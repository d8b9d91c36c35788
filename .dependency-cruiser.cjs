// The layers of docs/architecture.md. A folder of src/ may import only what is listed here.
const may = {
  steps: [],
  template: ['steps'],
  api: [],
  certs: [],
  routing: ['api'],
  selection: ['routing', 'api'],
  inject: ['template', 'selection', 'api', 'steps'],
  explain: ['inject', 'manifests', 'template', 'selection', 'routing', 'api'],
  manifests: ['selection', 'routing', 'api', 'certs'],
  rollout: ['routing', 'api', 'steps'],
  holding: ['manifests', 'rollout', 'selection', 'api', 'steps'],
  kube: ['api'],
  server: ['inject', 'rollout', 'routing', 'api', 'certs', 'steps'],
  web: ['explain', 'inject', 'selection', 'routing', 'api'],
  operator: [
    ...[
      'holding',
      'manifests',
      'certs',
      'rollout',
      'explain',
      'selection',
      'routing',
      'inject',
      'kube',
      'api',
      'steps',
    ],
  ],
};
const pure = [
  ...['template', 'api', 'certs', 'inject', 'manifests', 'rollout', 'holding', 'routing', 'selection', 'explain'],
  'web/engine',
];

const layers = Object.entries(may).map(([folder, allowed]) => ({
  name: `layer-${folder}`,
  comment: `src/${folder} may import ${allowed.length > 0 ? allowed.map((name) => `src/${name}`).join(', ') : 'no other folder of src'}.`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: [folder, ...allowed].map((name) => `^src/${name}/`) },
}));

// The rooms inside a folder: what each may not import of its own folder.
const roomsApart = [
  ['template/parse', 'template/(exec|functions)', 'Parsing knows nothing of execution.'],
  ['template/exec', 'template/functions/(sprig|istio)', 'Execution knows no family of functions.'],
  ['template/functions/sprig', 'template/functions/istio', 'Families of functions do not know each other.'],
  ['server/http', 'server/(admission|health|helper|worker|loading|trial|rollout)', 'Bytes know nothing of reviews.'],
  ['server/health', 'server/(admission|helper|worker|loading|trial|rollout)', 'Health is told, and asks no handler.'],
  ['server/metrics', 'server/(http|health|helper|worker|loading|trial)', 'Metrics are told.'],
  ['certs/(?!rotation/|requests/)', 'certs/(rotation|requests)', 'Certificates know nothing of who needs them.'],
  ['certs/rotation', 'certs/requests', 'The rotation does not know who issues.'],
  ['api/kubernetes', 'api/(injector-config|revision-tag)', 'Shapes of Kubernetes know nothing of ours.'],
  ['web/(engine|ports)', 'web/(page|dashboard)', 'The engine knows nothing of the pages that show its results.'],
];
const rooms = roomsApart.map(([from, to, comment]) => ({
  name: `room-${from.replace(/[^a-z]+/g, '-')}`,
  comment,
  severity: 'error',
  from: { path: `^src/${from}`, pathNot: '(\\.test\\.ts$|/testdata/)' },
  to: { path: `^src/${to}/` },
}));

module.exports = {
  forbidden: [
    ...layers,
    ...rooms,
    {
      name: 'pure-core',
      comment:
        'These folders are pure: no file system, network, process or timers. I/O belongs to kube, server, operator and cli.',
      severity: 'error',
      from: { path: `^src/(${pure.join('|')})/`, pathNot: '(\\.test\\.ts$|/testdata/)' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|buffer|util|tls|net)$' },
    },
    {
      name: 'one-home-of-client-node',
      comment:
        'src/kube is the only home of @kubernetes/client-node (and src/operator of the Operator class that it extends).',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/kube/' },
      to: { path: 'node_modules/@kubernetes/client-node' },
    },
    {
      name: 'one-writer',
      comment:
        'Only operator/webhooks writes MutatingWebhookConfigurations: everything else gets OwnedObjects, whose type refuses them.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/operator/(webhooks/|controller/create-reconcilers\\.ts$)' },
      to: { path: '^src/operator/controller/object-writer\\.ts$' },
    },
    {
      name: 'web-is-apart',
      comment: 'Nothing imports src/web: the build bundles it, and the command line serves the files.',
      severity: 'error',
      from: { pathNot: '^(src/web|scripts/playground)/' },
      to: { path: '^src/web/' },
    },
    {
      name: 'no-circular',
      comment: 'A cycle means that two files are one idea, or that one of them holds two.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-tests-in-production',
      comment: 'Production code never imports a test.',
      severity: 'error',
      from: { path: '^src/', pathNot: '(\\.test\\.ts$|/testdata/)' },
      to: { path: '(\\.test\\.ts$|/testdata/)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
