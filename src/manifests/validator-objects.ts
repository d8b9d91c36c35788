import { group, injectorConfigPlural, version } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { labelNames, managedBy, validatePath, validatorNames } from '../api/names.ts';
import { revisionTagPlural } from '../api/revision-tag/revision-tag.ts';
import { type CertificateMaterial, clientConfig, objectsToServe, opaqueSecret } from './desired-objects.ts';
import type { ManifestContext } from './manifest-context.ts';

/**
 * Returns the validating webhook of an operator class and its other objects, in order of
 * application. The webhook only reports mistakes earlier, because the CRD's rules or the reconciler
 * also check them. Therefore it has failurePolicy Ignore, and no pass waits for it.
 */
export function validatorObjects(certificates: CertificateMaterial, context: ManifestContext): KubernetesObject[] {
  const names = validatorNames(context.operatorClass);
  const labels = { [labelNames.managedBy]: managedBy, [labelNames.operatorClass]: context.operatorClass };
  const metadata = { namespace: context.namespace, labels };
  const { caBundlePem } = certificates;
  return [
    opaqueSecret(names.authoritySecret, certificates.stored, metadata),
    ...objectsToServe(names, certificates.serving, labels, context),
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: {
        name: names.webhookConfiguration,
        labels: { ...labels },
        ...(context.owner === undefined ? {} : { ownerReferences: [context.owner] }),
      },
      webhooks: [
        {
          name: `validator.${group}`,
          admissionReviewVersions: ['v1', 'v1beta1'],
          clientConfig: clientConfig({ service: names.service, path: validatePath, caBundlePem }, context),
          failurePolicy: 'Ignore',
          matchConditions: [{ name: 'own-class', expression: ownClass(context.operatorClass) }],
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: {},
          rules: [
            {
              apiGroups: [group],
              apiVersions: [version],
              operations: ['CREATE', 'UPDATE', 'DELETE'],
              resources: [injectorConfigPlural, revisionTagPlural],
              scope: 'Cluster',
            },
          ],
          sideEffects: 'None',
          timeoutSeconds: 5,
        },
      ],
    },
  ];
}

/** On DELETE only oldObject is set; on DELETE of a collection, neither object is set. */
function ownClass(operatorClass: string): string {
  const spec = '(object == null ? oldObject : object).spec';
  return `(object != null || oldObject != null) && has(${spec}.operatorClass) && ${spec}.operatorClass == '${operatorClass}'`;
}
