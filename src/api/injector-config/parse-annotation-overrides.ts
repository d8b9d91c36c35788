import { annotationPattern, type AnnotationOverrides } from './annotation-overrides.ts';
import { ConfigurationError } from '../errors.ts';
import { annotationOverridesSchema } from './injection-schema.ts';

/**
 * Reads annotationOverrides that stand by themselves; the preset is Safe when none is named.
 * @throws ConfigurationError naming the field and what to do
 */
export function parseAnnotationOverrides(value: unknown): AnnotationOverrides {
  const parsed = annotationOverridesSchema.strict().safeParse(value ?? {});
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = (issue?.path ?? []).join('.');
    throw new ConfigurationError(field, [field, issue?.message].filter((part) => part !== '').join(': '));
  }
  const { preset = 'Safe', allow } = parsed.data;
  const odd = allow.find((name) => !annotationPattern.test(name));
  if (odd !== undefined) {
    throw new ConfigurationError(
      'allow',
      `allow: ${JSON.stringify(odd)} is not the name of an annotation or label such as example.com/image, nor the beginning of one and *`,
    );
  }
  if (preset === 'Istio' && allow.length > 0)
    throw new ConfigurationError(
      'allow',
      'allow: needs preset Safe, under preset Istio everything is allowed: remove one',
    );
  return { preset, allow };
}
