// The layers of docs/architecture.md. Each folder of src/ may import only what is listed here; the build fails otherwise.
const may = {
  template: [],
  api: [],
  certs: [],
  inject: ['template', 'api'],
  manifests: ['api', 'certs'],
  rollout: ['api'],
  kube: ['api'],
  server: ['inject', 'rollout', 'api', 'certs'],
  operator: ['manifests', 'certs', 'rollout', 'inject', 'kube', 'api'],
};
const pure = ['template', 'api', 'certs', 'inject', 'manifests', 'rollout'];

const layers = Object.entries(may).map(([folder, allowed]) => ({
  name: `layer-${folder}`,
  comment: `src/${folder} may import ${allowed.length > 0 ? allowed.map((name) => `src/${name}`).join(', ') : 'no other folder of src'}.`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: [folder, ...allowed].map((name) => `^src/${name}/`) },
}));

module.exports = {
  forbidden: [
    ...layers,
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
      name: 'no-circular',
      comment: 'A cycle means that two files are one idea, or that one of them holds two.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
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
