import assert from 'node:assert/strict';
import { context } from './testdata/manifest-context.ts';
import { validatorObjects } from './validator-objects.ts';

const certificates = {
  stored: { 'rotation.json': '{}' },
  serving: { certificatePem: 'leaf', privateKeyPem: 'key', caPem: 'ca' },
  caBundlePem: 'ca',
};

describe('validatorObjects', () => {
  it('returns the objects in order of application, with the name of the operator class', () => {
    const objects = validatorObjects(certificates, { ...context, operatorClass: 'blue' });
    const names = objects.map(({ kind, metadata }) => `${kind} ${String(metadata.name)}`);
    assert.deepEqual(names, [
      'Secret injector-validator-blue',
      'Secret injector-validator-blue-serving',
      'Service injector-validator-blue',
      'ValidatingWebhookConfiguration sidecar-injector-blue-validator',
    ]);
    for (const { metadata } of objects) {
      assert.deepEqual(metadata.labels, {
        'app.kubernetes.io/managed-by': 'sidecar-injector',
        'sidecar-injector.io/operator-class': 'blue',
      });
    }
  });

  it('omits the serving Secret if the rotation does not change it', () => {
    const { stored, caBundlePem } = certificates;
    const kinds = validatorObjects({ stored, caBundlePem }, context).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['Secret', 'Service', 'ValidatingWebhookConfiguration']);
  });

  it('returns a webhook with failurePolicy Ignore for objects of the operator class', () => {
    const owner = { apiVersion: 'v1', kind: 'x', name: 'o', uid: 'u' };
    const configuration = validatorObjects(certificates, { ...context, owner }).at(-1);
    assert.deepEqual(configuration?.metadata.ownerReferences, [owner]);
    assert.deepEqual(configuration.webhooks, [
      {
        name: 'validator.sidecar-injector.io',
        admissionReviewVersions: ['v1', 'v1beta1'],
        clientConfig: {
          caBundle: Buffer.from('ca').toString('base64'),
          service: { namespace: 'injection', name: 'injector-validator-default', path: '/validate', port: 443 },
        },
        failurePolicy: 'Ignore',
        matchConditions: [
          {
            name: 'own-class',
            expression:
              '(object != null || oldObject != null) && has((object == null ? oldObject : object).spec.operatorClass)' +
              " && (object == null ? oldObject : object).spec.operatorClass == 'default'",
          },
        ],
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        rules: [
          {
            apiGroups: ['sidecar-injector.io'],
            apiVersions: ['v1alpha1'],
            operations: ['CREATE', 'UPDATE', 'DELETE'],
            resources: ['injectorconfigs', 'revisiontags'],
            scope: 'Cluster',
          },
        ],
        sideEffects: 'None',
        timeoutSeconds: 5,
      },
    ]);
  });
});
