import { ConfigurationError } from '../../api/errors.ts';
import type { Level } from '../../explain/lint/rules.ts';
import { loadInjector } from '../../inject/injector.ts';
import { rehearse } from '../../inject/rehearsal/rehearse.ts';
import { typicalPods } from '../../inject/rehearsal/typical-pods.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { dryRunPods } from '../../operator/configurations/dry-run-pods.ts';
import type { LintedConfiguration, PlacedFinding } from '../../explain/lint/lint-files.ts';

/**
 * Lets the API server validate the typical pods that each configuration injects. Creates them as
 * dry runs in a namespace, as the operator does before a publication.
 */
export async function lintOnServer(
  client: Pick<ApiClient, 'create'>,
  namespace: string,
  configurations: readonly LintedConfiguration[],
): Promise<PlacedFinding[]> {
  const found: PlacedFinding[] = [];
  for (const { files, placed } of configurations) {
    try {
      const injector = loadInjector(files);
      const injectKey = injector.settings.keys.inject;
      const { injected = [] } = rehearse(injector, () => performance.now(), typicalPods(injectKey));
      const { invalid, isRefused, unjudged } = await dryRunPods(client, { namespace, injectKey }, injected);
      const finding = (level: Level, message: string): PlacedFinding =>
        placed({ rule: 'invalid-object', level, message, field: 'config.templates' });
      found.push(...invalid.map((message) => finding(isRefused ? 'error' : 'warning', message)));
      if (unjudged !== undefined) found.push(finding('note', unjudged.message));
    } catch (error) {
      // A configuration that cannot be loaded has been reported without the server.
      if (!(error instanceof ConfigurationError)) throw error;
    }
  }
  return found;
}
