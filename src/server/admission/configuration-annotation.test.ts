import assert from 'node:assert/strict';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { updateAnnotation } from '../../api/revision-tag/update-annotation.ts';
import { annotateConfiguration } from './configuration-annotation.ts';

describe('annotateConfiguration', () => {
  const value = 'default.0a1b2c3d';
  const path = '/metadata/annotations/sidecar-injector.io~1config';
  const add = (at: string, what: unknown): object[] => [{ op: 'add', path: at, value: what }];
  const named = { 'sidecar-injector.io/config': value };
  const listed = (list: unknown): object => ({ annotations: { 'sidecar-injector.io/config': list } });
  const forged = [{ op: 'remove', path: '/metadata/annotations/sidecar-injector.io~1update' }];
  const later = 'logs.22222222,default.11111111,a.33333333';
  const cases: [what: string, metadata: object | undefined, operations: object[]][] = [
    ['adds an entry beside other annotations', { annotations: { a: 'b' } }, add(path, value)],
    ['replaces the earlier entry of the InjectorConfig', listed(later), add(path, `logs.22222222,${value},a.33333333`)],
    ['appends an entry', listed('default-logs.22222222'), add(path, `default-logs.22222222,${value}`)],
    ['replaces malformed entries', listed('mine,,x.y'), add(path, value)],
    ['replaces a value that is not a string', listed(7), add(path, value)],
    ['changes nothing if the entry exists', listed(value), []],
    ['removes a record of an update', { annotations: { ...named, [updateAnnotation]: '{}' } }, forged],
    ['adds annotations', { name: 'a' }, add('/metadata/annotations', named)],
    ['replaces null annotations', { annotations: null }, add('/metadata/annotations', named)],
    ['adds metadata', undefined, add('/metadata', { annotations: named })],
  ];
  for (const [what, metadata, operations] of cases) {
    it(what, () => {
      const pod = (metadata === undefined ? {} : { metadata }) as JsonObject;
      assert.deepEqual(annotateConfiguration(pod, 'default', '0a1b2c3d'), operations);
    });
  }
});
