import assert from 'node:assert/strict';
import { istioKeys } from '../api/injector-config/webhook-keys.ts';
import { generatedMatchConditions } from './webhook-configuration.ts';

const conditions = generatedMatchConditions(istioKeys);
const expression = (name: string) => conditions.find((condition) => condition.name === name)?.expression ?? '';

describe('generatedMatchConditions', () => {
  it('excludes host-network pods, pods that opted out and mirror pods', () => {
    const names = conditions.map(({ name }) => name);
    assert.deepEqual(names, ['not-host-network', 'not-opted-out', 'not-mirror-pod']);
    assert.match(expression('not-host-network'), /object\.spec\.hostNetwork == true/);
    assert.match(expression('not-opted-out'), /metadata\.annotations\['sidecar\.istio\.io\/inject'\] == 'false'/);
    assert.match(expression('not-mirror-pod'), /'kubernetes\.io\/config\.mirror' in object\.metadata\.annotations/);
  });

  it('gives the label precedence over the annotation', () => {
    assert.match(
      expression('not-opted-out'),
      /^!\(!\(has\(object\.metadata\.labels\) && 'sidecar\.istio\.io\/inject' in object\.metadata\.labels\) && /,
    );
  });

  it('uses the key of the family', () => {
    const [, optedOut] = generatedMatchConditions({ inject: 'logs.example.com/inject' });
    assert.ok(optedOut);
    assert.ok(optedOut.expression.includes("'logs.example.com/inject'"));
    assert.ok(!optedOut.expression.includes('istio'));
  });

  it('guards every optional field, because an evaluation error refuses the pod', () => {
    for (const { name, expression: text } of conditions) {
      for (const field of ['object.spec.hostNetwork', 'object.metadata.labels', 'object.metadata.annotations']) {
        const used = text.indexOf(field);
        assert.ok(used === -1 || text.slice(0, used).endsWith('has('), `${name}: ${field} before its has()`);
      }
    }
  });
});
