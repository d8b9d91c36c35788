import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { z } from 'zod';
import { ConfigurationError } from '../../api/errors.ts';
import { istioOverrides } from '../../api/injector-config/annotation-overrides.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';

/** The settings. The defaults are the settings of Istio's own injector. */
const settingsSchema = z.object({
  revision: z.string().default('default'),
  delimiters: z.tuple([z.string().min(1), z.string().min(1)]).default(['{{', '}}']),
  nativeSidecars: z.enum(['Auto', 'Enabled', 'Disabled']).default('Auto'),
  keys: z
    .object({
      injection: z.string().default(istioKeys.injection),
      revision: z.string().default(istioKeys.revision),
      inject: z.string().default(istioKeys.inject),
      status: z.string().default(istioKeys.status),
    })
    .default(istioKeys),
  pathEnvironment: z.record(z.string(), z.string()).default({}),
  platform: z.enum(['Kubernetes', 'OpenShift']).default('Kubernetes'),
  compliancePolicy: z.string().default(''),
  annotationOverrides: z
    .object({
      preset: z.enum(['Safe', 'Istio']),
      allow: z.array(z.string()).default([]),
      sameName: z.enum(['Refuse', 'Warn']).exactOptional(),
      sameNameFields: z.array(z.string()).exactOptional(),
    })
    .default({ preset: istioOverrides.preset, allow: [] }),
  podResources: z.enum(['Keep', 'Add']).default('Keep'),
  windowsPods: z.enum(['Skip', 'Inject']).exactOptional(),
});

/** Parses settings. @throws ConfigurationError that names the field */
export function parseSettings(text: string): Required<InjectionSettings> {
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    throw new ConfigurationError('settings', `settings: not JSON: ${(error as Error).message}`, { cause: error });
  }
  const parsed = settingsSchema.safeParse(value);
  if (parsed.success) {
    const windowsPods = parsed.data.annotationOverrides.preset === 'Istio' ? 'Inject' : 'Skip';
    return { windowsPods, ...parsed.data };
  }
  const issue = parsed.error.issues[0];
  const field = ['settings', ...(issue?.path ?? [])].join('.');
  throw new ConfigurationError(field, `${field}: ${issue?.message ?? 'invalid'}`);
}
