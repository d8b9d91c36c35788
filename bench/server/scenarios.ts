import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import { istioKeys } from '../../src/api/injector-config/webhook-keys.ts';
import type { Scenario } from './compare.ts';
import { neverSeenReviews, podReviews, recordedReviews, type ReviewMaker } from './pod-reviews.ts';

/** A configuration, the scenarios of `compare`, and the pods for `latency` and `memory`. */
export interface ScenarioSet {
  readonly files: ConfigurationFiles;
  readonly scenarios: readonly Scenario[];
  readonly newPods: ReviewMaker;
}

/** Settings without annotationOverrides, so that preset Istio applies, as in Istio's injector. */
const istioSettings = {
  revision: 'default',
  delimiters: ['{{', '}}'],
  nativeSidecars: 'Disabled',
  keys: istioKeys,
  pathEnvironment: {},
};
const settings = JSON.stringify(istioSettings);
const safeSettings = JSON.stringify({ ...istioSettings, annotationOverrides: { preset: 'Safe', allow: [] } });

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

/** Returns scenarios with a small template of our own, and pods of several sizes. */
export function ownScenarios(): ScenarioSet {
  return {
    files: hello,
    newPods: podReviews(small, true),
    scenarios: [
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
    ],
  };
}

function recordedFiles(folder: string, settingsText: string): ConfigurationFiles {
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const { config, values, meshConfigMapKey } = JSON.parse(read('inj-096-hello.yaml/case.json')) as Record<
    string,
    string
  >;
  return {
    config: read(config ?? ''),
    values: read(values ?? ''),
    mesh: read(meshConfigMapKey ?? ''),
    settings: settingsText,
  };
}

/**
 * Returns scenarios with preset Safe: pods without annotations for templates, with an annotation
 * that steers branches, or with an annotation that Safe renders twice, and pods never seen.
 */
export function safeScenarios(folder: string): Pick<ScenarioSet, 'files' | 'scenarios'> {
  const recorded = readFileSync(join(folder, 'review.json'), 'utf8');
  const annotated = (annotation: string, value: string): string =>
    recorded.replace('"annotations":{', `$&${JSON.stringify(annotation)}:${JSON.stringify(value)},`);
  const scenario = (name: string, review: string): Scenario => ({
    name,
    reviews: recordedReviews(review, true),
    requests: 1000,
  });
  return {
    files: recordedFiles(folder, safeSettings),
    scenarios: [
      scenario('Safe, no annotation', recorded),
      scenario('Safe, one that steers', annotated('sidecar.istio.io/proxyCPU', '100m')),
      scenario('Safe, an odd text', annotated('sidecar.istio.io/componentLogLevel', 'misc:error,x:y')),
      { name: 'Safe, never seen', reviews: neverSeenReviews(recorded), requests: 1000 },
    ],
  };
}

/** Returns scenarios with Istio's default set-up and a recorded review. */
export function recordedScenarios(folder: string): ScenarioSet {
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const files = recordedFiles(folder, settings);
  const recorded = read('review.json');
  const optedOut = recorded.replace('"labels":{', '$&"sidecar.istio.io/inject":"false",');
  return {
    files,
    newPods: recordedReviews(recorded, true),
    scenarios: [
      { name: 'Istio, new pod', reviews: recordedReviews(recorded, true), requests: 1000 },
      { name: 'Istio, never seen', reviews: neverSeenReviews(recorded), requests: 1000 },
      { name: 'Istio, repeated pod', reviews: recordedReviews(recorded, false), requests: 2000 },
      { name: 'Istio, skipped, new', reviews: recordedReviews(optedOut, true), requests: 2000 },
      { name: 'Istio, skipped, repeated', reviews: recordedReviews(optedOut, false), requests: 2000 },
    ],
  };
}
