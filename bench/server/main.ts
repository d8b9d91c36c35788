import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigurationFiles } from '../../src/api/configuration-files.ts';
import { istioKeys } from '../../src/api/webhook-keys.ts';
import { ChildServer } from './child-server.ts';
import { compareServers, type Scenario } from './compare.ts';
import { podReviews, recordedReviews } from './pod-reviews.ts';
import { measureUnderPressure } from './under-pressure.ts';

/**
 * Our server against a bare one, in CPU milliseconds a request. With a folder of golden data as first argument also Istio's own templates
 * and a recorded review: `node --import ts-blank-space/register bench/server/main.ts [golden]`.
 */
const [golden] = process.argv.slice(2);
const connections = 8;

const settings = JSON.stringify({
  revision: 'default',
  delimiters: ['{{', '}}'],
  nativeSidecars: 'Disabled',
  keys: istioKeys,
  pathEnvironment: {},
});

const hello: ConfigurationFiles = {
  config: [
    'policy: enabled',
    'defaultTemplates: [hello]',
    'templates:',
    '  hello: |',
    '    spec:',
    '      containers:',
    '      - name: hello',
    '        image: {{ .Values.image | quote }}',
    '        args: [{{ .ObjectMeta.GenerateName | quote }}]',
  ].join('\n'),
  values: '{"image": "registry.example.com/hello:1"}',
  mesh: '',
  settings,
};

const small = { containers: 2, environment: 10 };
const skipped = { ...small, labels: { 'sidecar.istio.io/inject': 'false' } };
const scenarios: Scenario[] = [
  { name: 'new pod', reviews: podReviews(small, true), requests: 1000 },
  { name: 'repeated pod', reviews: podReviews(small, false), requests: 2000 },
  { name: 'skipped, new', reviews: podReviews(skipped, true), requests: 2000 },
  { name: 'skipped, repeated', reviews: podReviews(skipped, false), requests: 2000 },
  ...[1, 10, 50].map((containers) => ({
    name: `new, ${containers} containers`,
    reviews: podReviews({ containers, environment: 5 }, true),
    requests: 300,
  })),
  ...[1, 100, 2000].map((environment) => ({
    name: `new, ${environment} variables`,
    reviews: podReviews({ containers: 1, environment }, true),
    requests: 300,
  })),
];

/** Istio's default set-up and a recorded review, where they are at hand. */
function recordedScenarios(folder: string): { files: ConfigurationFiles; scenarios: Scenario[] } {
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const { config, values, meshConfigMapKey } = JSON.parse(read('inj-096-hello.yaml/case.json')) as Record<
    string,
    string
  >;
  const files = {
    config: read(config ?? ''),
    values: read(values ?? ''),
    mesh: read(meshConfigMapKey ?? ''),
    settings,
  };
  const recorded = read('review.json');
  return {
    files,
    scenarios: [
      { name: 'Istio, new pod', reviews: recordedReviews(recorded, true), requests: 600 },
      { name: 'Istio, repeated pod', reviews: recordedReviews(recorded, false), requests: 1000 },
    ],
  };
}

const scratch = mkdtempSync(join(tmpdir(), 'injector-bench-'));

async function measure(files: ConfigurationFiles, list: readonly Scenario[]): Promise<void> {
  const configuration = join(scratch, 'configuration.json');
  writeFileSync(configuration, JSON.stringify(files));
  const [bare, ours] = await Promise.all([ChildServer.start('bare'), ChildServer.start('ours', configuration)]);
  try {
    for (const scenario of list) {
      const result = await compareServers(bare, ours, scenario, connections);
      console.log(
        [
          result.name.padEnd(22),
          `${result.bodyBytes} B in, ${result.answerBytes} B out`.padEnd(26),
          `bare ${result.bare.toFixed(3)} ms, ours ${result.ours.toFixed(3)} ms CPU, ratio ${result.ratio.toFixed(2)}`,
          `p50 ${result.p50.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms at ${connections} connections`,
          `${result.reused} reused, ${result.failed} failed`,
        ].join(' | '),
      );
    }
    const { residentBytes, peakResidentBytes } = ours.usage();
    const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;
    console.log(
      `memory of ours (with the TypeScript loader): ${mebibytes(residentBytes)} now, ${mebibytes(peakResidentBytes)} at most`,
    );
  } finally {
    bare.stop();
    ours.stop();
  }
}

async function measurePressure(files: ConfigurationFiles): Promise<void> {
  const configuration = join(scratch, 'configuration.json');
  writeFileSync(configuration, JSON.stringify(files));
  const server = await ChildServer.start('ours', configuration);
  await measureUnderPressure(server);
  server.stop();
}

try {
  await measure(hello, scenarios);
  await measurePressure(hello);
  if (golden !== undefined) {
    const recorded = recordedScenarios(golden);
    await measure(recorded.files, recorded.scenarios);
  }
} finally {
  rmSync(scratch, { recursive: true });
}
