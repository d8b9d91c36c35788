import type { ApiClient } from '../../../src/kube/api-client.ts';

export interface Access {
  verb: string;
  resource: string;
  name?: string;
  group?: string;
  subresource?: string;
}

/**
 * Whether RBAC allows a user something, asked of the API server (SubjectAccessReview), so that no refusal is in the audit log.
 *
 * @param user a ServiceAccount's user name: `system:serviceaccount:…`
 */
export async function isAllowed(client: ApiClient, user: string, namespace: string, access: Access): Promise<boolean> {
  const answer = (await client.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    body: JSON.stringify({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups: [], resourceAttributes: { namespace, ...access } },
    }),
  })) as { status: { allowed: boolean } };
  return answer.status.allowed;
}
