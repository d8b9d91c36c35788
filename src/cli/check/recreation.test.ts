import assert from 'node:assert/strict';
import { recreationOf } from './recreation.ts';

const selector = {
  matchLabels: { app: 'web' },
  matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }],
};
const restart = (kind: string): string => `kubectl rollout restart ${kind}/web -n shop`;
const deletion = "kubectl delete pod --wait=false -n shop -l 'app=web,tier in (a,b)'";

/** Objects, the expected command, what it costs, and whether a change of the template is enough. */
const table: [kind: string, spec: object | undefined, command: string, cost: RegExp, followsTemplate: boolean][] = [
  ['Deployment', undefined, restart('deployment'), /^$/, true],
  [
    'Deployment',
    { paused: true },
    `kubectl rollout resume deployment/web -n shop && ${restart('deployment')}`,
    /also rolls out the changes that wait/,
    false,
  ],
  ['StatefulSet', { updateStrategy: { type: 'RollingUpdate' } }, restart('statefulset'), /^$/, true],
  ['StatefulSet', { selector, updateStrategy: { rollingUpdate: { partition: 2 } } }, deletion, /ordinal 2/, false],
  ['DaemonSet', { selector, updateStrategy: { type: 'OnDelete' } }, deletion, /OnDelete.*all pods .*at once/, false],
  ['ReplicaSet', { selector }, deletion, /all pods .*at once/, false],
  ['ReplicaSet', undefined, '# delete the pods of this ReplicaSet one by one', /^$/, false],
  [
    'ReplicationController',
    { selector: { app: 'web' } },
    'kubectl delete pod --wait=false -n shop -l app=web',
    /at once/,
    false,
  ],
  ['Job', {}, '# wait: its pods run to their end, and its next pods are as they should be', /^$/, true],
  ['CronJob', {}, '# wait: its pods run to their end, and its next pods are as they should be', /^$/, true],
  ['Spark', undefined, '# recreate its pods with the tools of its Spark', /^$/, true],
  [
    'Pod',
    {},
    'kubectl get pod web -n shop -o yaml | injector uninject -f - | kubectl replace --force -f -',
    /cannot be undone/,
    false,
  ],
];

describe('recreationOf', () => {
  for (const [kind, spec, command, cost, followsTemplate] of table) {
    it(`suggests for a ${kind} with ${JSON.stringify(spec)}: ${command}`, () => {
      const found = recreationOf({ apiVersion: '', kind, metadata: { name: 'web' }, ...(spec && { spec }) }, 'shop');
      assert.deepEqual([found.command, found.followsTemplate], [command, followsTemplate]);
      assert.match(found.cost ?? '', cost);
    });
  }
});
