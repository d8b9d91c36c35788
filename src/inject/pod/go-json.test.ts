import assert from 'node:assert/strict';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { encodeGoJson } from './go-json.ts';

describe('encodeGoJson', () => {
  it('writes members in Go’s order, sorts maps and escapes HTML', () => {
    const container = {
      securityContext: { capabilities: { drop: ['ALL'] } },
      resources: { requests: { memory: '1Gi', cpu: '1' } },
      command: ['a && b', '<\u2028>'],
      name: 'c',
      lifecycle: null,
    };
    assert.equal(
      encodeGoJson(podStruct('v1.Container'), container),
      '{"name":"c","command":["a \\u0026\\u0026 b","\\u003c\\u2028\\u003e"],"resources":{"requests":{"cpu":"1","memory":"1Gi"}},"lifecycle":null,"securityContext":{"capabilities":{"drop":["ALL"]}}}',
    );
  });
});
