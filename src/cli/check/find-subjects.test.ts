import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { workloadOf } from '../../inject/pod/workload.ts';
import { readPod } from '../../inject/pod/read-pod.ts';
import { findSubjects, parseTargets } from './find-subjects.ts';
import { MemoryClient } from './testdata/memory-client.ts';

const spec = { containers: [{ name: 'app', image: 'app' }] };
const template = { metadata: { labels: { app: 'web' } }, spec };

function object(apiVersion: string, kind: string, name: string, more: Record<string, unknown> = {}): KubernetesObject {
  return { apiVersion, kind, metadata: { name, namespace: 'shop', uid: `uid-${name}` }, spec: { template }, ...more };
}

function owned(
  { apiVersion, kind, metadata: { name = '' } }: KubernetesObject,
  made: KubernetesObject,
): KubernetesObject {
  const ownerReferences = [{ apiVersion, kind, name, uid: '1', controller: true }];
  return { ...made, metadata: { ...made.metadata, ownerReferences } };
}

const namespace: KubernetesObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
const deployment = object('apps/v1', 'Deployment', 'web');
const hash = { labels: { app: 'web', 'pod-template-hash': 'abc' } };
const ofHash = { spec: { template: { metadata: hash, spec } } };
const replicaSet = owned(deployment, object('apps/v1', 'ReplicaSet', 'web-abc', ofHash));
const pod = owned(replicaSet, object('v1', 'Pod', 'web-abc-1', { spec }));
const orphan = owned(object('apps/v1', 'ReplicaSet', 'gone'), object('v1', 'Pod', 'orphan', { spec }));
const bare = object('v1', 'Pod', 'bare', { spec });
const cronJob = object('batch/v1', 'CronJob', 'cron', { spec: { jobTemplate: { spec: { template } } } });
const client = new MemoryClient([namespace, deployment, replicaSet, pod, orphan, bare, cronJob]);

describe('parseTargets', () => {
  const known: [text: string, targets: string][] = [
    ['web', 'Pod web'],
    ['po/web Deployment/web', 'Pod web, Deployment web'],
    ['deploy/web ns/shop', 'Deployment web, Namespace shop'],
    ['statefulsets/web', 'StatefulSet web'],
    ['deploy web cart', 'Deployment web, Deployment cart'],
  ];
  for (const [text, targets] of known) {
    it(`reads ${text} as ${targets}`, () => {
      const found = parseTargets(text.split(' ')).map(({ resource, name }) => `${resource.kind} ${name}`);
      assert.equal(found.join(', '), targets);
    });
  }

  const refused: [text: string, mention: RegExp][] = [
    ['secret/x', /TYPE is one of/],
    ['deploymnt/web', /TYPE is one of pod, .*; did you mean deployment\/web\?$/],
    ['Statefulset/', /TYPE is one of [a-z, ]+$/],
    ['pod/', /TYPE\/NAME/],
    ['pod/a/b', /TYPE\/NAME/],
    ['', /TYPE\/NAME/],
    ['deployment', /or TYPE NAME/],
    ['deployment web pod/x', /use TYPE\/NAME for every object, or TYPE NAME \[NAME…\], not both/],
    ['pod/x web', /not both/],
  ];
  for (const [text, mention] of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseTargets(text.split(' ')), mention);
    });
  }
});

describe('findSubjects', () => {
  const subjectsOf = async (text: string, namespace = 'shop') =>
    (await Promise.all(parseTargets([text]).map((target) => findSubjects(client, target, namespace)))).flat();
  const workloads: [target: string, kind: string, name: string][] = [
    ['deployment/web', 'Deployment', 'web'],
    ['replicaset/web-abc', 'Deployment', 'web'],
    ['cronjob/cron', 'CronJob', 'cron'],
  ];
  for (const [target, kind, name] of workloads) {
    it(`for ${target}, returns a pod of ${kind} ${name}, whose template can be edited`, async () => {
      const [subject] = await subjectsOf(target);
      assert.ok(subject);
      const workload = workloadOf(readPod(subject.pod, 'shop'));
      assert.deepEqual([workload.kind, workload.name], [kind, name]);
      assert.deepEqual(subject.template, { kind, name });
    });
  }

  it('uses the current pod template for a pod that has a controller', async () => {
    const [subject] = await subjectsOf('pod/web-abc-1');
    assert.ok(subject);
    assert.equal(subject.stored?.metadata.name, 'web-abc-1');
    assert.deepEqual((subject.pod.metadata as { labels: unknown }).labels, hash.labels);
    assert.deepEqual(subject.template, { kind: 'Deployment', name: 'web' });
  });

  it('checks a stored pod whose controller was deleted, and adds a note', async () => {
    const [subject] = await subjectsOf('pod/orphan');
    assert.match(subject?.notes.join() ?? '', /ReplicaSet gone, which created the pod, does not exist/);
  });

  it('for a namespace, returns a pod without labels, then each object without a controller', async () => {
    const subjects = await subjectsOf('namespace/shop', 'elsewhere');
    const found = subjects.map(({ kind, name }) => `${kind}/${name}`);
    assert.deepEqual(found, ['Namespace/shop', 'Deployment/web', 'CronJob/cron', 'Pod/bare']);
  });

  it('lists the existing names for an unknown name', async () => {
    await assert.rejects(
      subjectsOf('deployment/none'),
      /^UsageError: there is no Deployment none in namespace shop; existing names: web/,
    );
    await assert.rejects(subjectsOf('namespace/none'), /there is no Namespace none; existing names: /);
  });
});
