import assert from 'node:assert/strict';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { openShiftProxyIds, withoutAssignedProxyUser } from './open-shift.ts';
import { findContainer, type Pod } from './pod.ts';

const users = 'openshift.io/sa.scc.uid-range';
const groups = 'openshift.io/sa.scc.supplemental-groups';

describe('openShiftProxyIds', () => {
  const rows: [name: string, annotations: Record<string, string> | undefined, user: number, group: number][] = [
    ['a user range and a group range', { [users]: '1000/100', [groups]: '2000-2009' }, 1099, 2009],
    ['a user range alone', { [users]: '1000/100' }, 1099, 1099],
    ['several group ranges', { [users]: '1/1', [groups]: '5/2,9/9' }, 1, 6],
    ['no ranges', {}, 1337, 1337],
    ['no metadata', undefined, 1337, 1337],
    ['ranges that cannot be read', { [users]: 'many', [groups]: '1/2,x' }, 1337, 1337],
    ['numbers beyond 32 bits', { [users]: '4294967296/1' }, 1337, 1337],
    ['the largest 32-bit number', { [users]: '4294967295/1' }, 4294967295, 4294967295],
  ];
  for (const [name, annotations, user, group] of rows) {
    it(`returns the ids for ${name}`, () => {
      assert.deepEqual(openShiftProxyIds(annotations && { annotations }), { user, group });
    });
  }
});

describe('withoutAssignedProxyUser', () => {
  const podWith = (proxy: object | undefined, application: object | undefined, setup: object = {}): Pod =>
    normalisePod({
      spec: {
        containers: [
          { name: 'web', ...(application && { securityContext: application }) },
          { name: 'istio-proxy', ...(proxy && { securityContext: proxy }) },
        ],
        initContainers: [{ name: 'setup', securityContext: setup }],
      },
    }) as Pod;

  it('removes the application’s user from the proxy', () => {
    const pod = withoutAssignedProxyUser(
      podWith({ runAsUser: 1000, runAsGroup: 1000, privileged: false }, { runAsUser: 1000 }),
    );
    assert.deepEqual(findContainer(pod, 'istio-proxy')?.securityContext, { privileged: false });
    const withoutUsers = withoutAssignedProxyUser(podWith({ runAsGroup: 1000 }, undefined));
    assert.deepEqual(findContainer(withoutUsers, 'istio-proxy')?.securityContext, {});
  });

  it('keeps a different user and a proxy without a user', () => {
    const own = { runAsUser: 1000 };
    // Init containers come last, as in Istio.
    for (const pod of [podWith({ runAsUser: 2000 }, own), podWith(undefined, own), podWith(own, own, { runAsUser: 3 })])
      assert.equal(withoutAssignedProxyUser(pod), pod);
  });
});
