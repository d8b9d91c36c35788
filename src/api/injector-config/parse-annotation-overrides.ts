import { annotationPattern, type AnnotationOverrides } from './annotation-overrides.ts';
import { ConfigurationError } from '../errors.ts';
import { annotationOverridesSchema } from './injection-schema.ts';

/** Reads annotationOverrides that stand by themselves, by default Safe. @throws ConfigurationError naming the field */
export function parseAnnotationOverrides(value: unknown): AnnotationOverrides {
  const parsed = annotationOverridesSchema.strict().safeParse(value ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw mistake((issue?.path ?? []).join('.'), issue?.message ?? 'invalid');
  }
  const { preset = 'Safe', allow } = parsed.data;
  const odd = allow.find((name) => !annotationPattern.test(name));
  if (odd !== undefined) {
    const wanted = 'the name of an annotation or label such as example.com/image, nor the beginning of one and *';
    throw mistake('allow', `${JSON.stringify(odd)} is not ${wanted}`);
  }
  if (preset === 'Istio' && allow.length > 0)
    throw mistake('allow', 'needs preset Safe, under preset Istio everything is allowed: remove one');
  return { preset, allow };
}

function mistake(field: string, problem: string): ConfigurationError {
  return new ConfigurationError(field, field === '' ? problem : `${field}: ${problem}`);
}
