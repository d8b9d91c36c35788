import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import { parse } from 'yaml';
import { istioOverrides, type AnnotationOverrides } from '../../api/annotation-overrides.ts';
import { parseAnnotationOverrides } from '../../api/parse-annotation-overrides.ts';
import { ConfigurationError } from '../../api/errors.ts';
import { describeFileError } from '../files.ts';
import { UsageError } from '../usage-error.ts';

/** `--annotation-overrides FILE`, for the commands that read Istio's own format, which has no place for it. */
export function annotationOverridesOption(): Option {
  return new Option(
    '--annotation-overrides <file>',
    'YAML with preset (Safe, Istio) and allow: the annotations with which pods may steer the templates (default: preset Istio)',
  );
}

/** What the file says; preset Istio without one. @throws UsageError naming the file and the field */
export function annotationOverridesOf(file: string | undefined): AnnotationOverrides {
  if (file === undefined) return istioOverrides;
  const place = `--annotation-overrides ${file}`;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${place}: ${describeFileError(error)}`, { cause: error });
  }
  try {
    return parseAnnotationOverrides(parse(text));
  } catch (error) {
    const reason = error instanceof ConfigurationError ? error.message : `not YAML: ${(error as Error).message}`;
    throw new UsageError(`${place}: ${reason}`, { cause: error });
  }
}
