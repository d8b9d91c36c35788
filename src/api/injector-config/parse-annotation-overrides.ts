import { annotationPattern, type AnnotationOverrides } from './annotation-overrides.ts';
import { ConfigurationError } from '../errors.ts';
import { annotationOverridesSchema } from './injection-schema.ts';

/** Parses annotationOverrides; defaults to preset Safe. @throws ConfigurationError */
export function parseAnnotationOverrides(value: unknown): AnnotationOverrides {
  const parsed = annotationOverridesSchema.strict().safeParse(value ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw mistake((issue?.path ?? []).join('.'), issue?.message ?? 'invalid');
  }
  const { preset = 'Safe', allow, ...sameName } = parsed.data;
  const invalid = allow.find((name) => !annotationPattern.test(name));
  if (invalid !== undefined) {
    const expected = 'the name of an annotation or label such as example.com/image, or a prefix such as example.com/*';
    throw mistake('allow', `${JSON.stringify(invalid)} is not ${expected}`);
  }
  const [limit] = [...(allow.length > 0 ? ['allow'] : []), ...Object.keys(sameName)];
  if (preset === 'Istio' && limit !== undefined)
    throw mistake(limit, 'requires preset Safe, because preset Istio already allows everything; remove one of them');
  return { preset, allow, ...sameName };
}

function mistake(field: string, problem: string): ConfigurationError {
  return new ConfigurationError(field, field === '' ? problem : `${field}: ${problem}`);
}
