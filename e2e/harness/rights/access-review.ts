import type { ApiClient } from '../../../src/kube/api-client.ts';

export interface Access {
  verb: string;
  resource: string;
  name?: string;
  group?: string;
  subresource?: string;
}

/**
 * Reports whether RBAC allows a user's request. Uses a SubjectAccessReview, which leaves no refusal
 * in the audit log.
 *
 * @param user the user name of a ServiceAccount, `system:serviceaccount:…`
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
