import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { resourceKind, resourcePath } from '../../src/kube/resource-kinds.ts';
import { applyAll, applyObject, objectOf, readObjects } from './apply.ts';
import { buildProgram } from './build.ts';
import { ManagedProcess } from './managed-process.ts';
import { paths } from './paths.ts';
import type { ScenarioContext } from './scenario-context.ts';
import { encoded } from './tls-observer/rotating-cluster.ts';
import { foreignCertificates } from './tls-observer/foreign-certificates.ts';
import { waitFor } from './wait-for.ts';

const certificates = resourceKind('cert-manager.io/v1', 'Certificate');
const module = 'github.com/cert-manager/cert-manager';

interface Certificate extends KubernetesObject {
  status?: { conditions?: { type: string; status: string }[]; revision?: number };
}

export type CertManager = Awaited<ReturnType<typeof prepareCertManager>>;

/** Prepares cert-manager's CRDs and controllers (e2e/tools/certmanager), but starts none. */
export async function prepareCertManager(context: ScenarioContext) {
  const { client, cluster } = context;
  const program = await buildProgram('certmanager', (line) => context.say(line));
  const cwd = join(paths.tools, 'certmanager');
  const folder = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}/deploy/crds', module], { cwd, encoding: 'utf8' });
  const files = readdirSync(folder.trim()).filter((file) => file.endsWith('.yaml'));
  const process = (name: 'controller' | 'cainjector'): ManagedProcess => {
    const made = new ManagedProcess({
      name: `cert-manager-${name}`,
      command: program,
      arguments: [name, cluster.kubeconfig ?? ''],
      run: cluster.run,
    });
    context.atEnd(() => made.kill());
    return made;
  };
  return {
    controller: process('controller'),
    cainjector: process('cainjector'),

    define: async (): Promise<void> => {
      const objects = files.flatMap((file) => readObjects(join(folder.trim(), file)));
      context.atEnd(async () => {
        for (const each of objects) await client.delete(each).catch(() => undefined);
      });
      await applyAll(client, objects);
    },

    /** Creates an Issuer with a new CA, and returns the root. A second call replaces the root. */
    issuer: async (name: string, namespace: string): Promise<string> => {
      const { authority, authorityKey } = await foreignCertificates(name, namespace);
      const secret = objectOf('v1', 'Secret', `${name}-root`, namespace);
      const data = encoded({ 'tls.crt': authority, 'tls.key': authorityKey, 'ca.crt': authority });
      await applyObject(client, { ...secret, type: 'kubernetes.io/tls', data });
      const issuer = objectOf('cert-manager.io/v1', 'Issuer', name, namespace);
      await applyObject(client, { ...issuer, spec: { ca: { secretName: `${name}-root` } } });
      return authority;
    },

    /** Renews like `cmctl renew`, after issuances in progress, which would cancel the request. */
    renew: async (name: string, namespace: string): Promise<void> => {
      // cert-manager writes the same status, so retry conflicts.
      await waitFor('the renewal to be requested', async () => {
        const certificate = await client.get<Certificate>(certificates, name, { namespace });
        const conditions = certificate.status?.conditions ?? [];
        if (conditions.some(({ type, status }) => type === 'Issuing' && status === 'True')) return false;
        const others = conditions.filter(({ type }) => type !== 'Issuing');
        const issuing = {
          ...{ type: 'Issuing', status: 'True', reason: 'ManuallyTriggered' },
          ...{ message: 'requested by e2e', lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z` },
        };
        const renewed = { ...certificate, status: { ...certificate.status, conditions: [...others, issuing] } };
        const path = resourcePath(certificates, { namespace, name, subresource: 'status' });
        return client.request('PUT', path, { body: JSON.stringify(renewed) });
      });
    },
  };
}
