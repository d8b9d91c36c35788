import { quantityProblem } from '../../../src/inject/annotations/annotation-values.ts';
import { annotationProblems, validatedAnnotations } from '../../../src/inject/annotations/validate-annotations.ts';
import { expectEqual, type Mismatch } from '../conformance-case.ts';
import type { RowComparison } from '../table-cases.ts';

interface Wanted {
  readonly error: string | null;
}

/** The validation of annotations. YAML's own errors are the parser's. */
export const annotationTables: Readonly<Record<string, RowComparison>> = {
  validateAnnotationMatrix: (row) => {
    const { annotation, value, error } = row as Wanted & { annotation: string; value: string };
    return compareErrors(annotationProblems({ [annotation]: value }), error);
  },
  validateAnnotations: (row) => {
    const { annotations, error } = row as Wanted & { annotations: Record<string, string> };
    return compareErrors(annotationProblems(annotations), error);
  },
  validateResourceQuantity: (row) => {
    const { value, error } = row as Wanted & { value: string };
    return expectEqual(quantityProblem(value) ?? null, error);
  },
  validatedAnnotations: (row) => expectEqual(validatedAnnotations.includes(row as string), true),
};

/** What YAML says of a text that is none differs from parser to parser. */
function compareErrors(actual: string | undefined, wanted: string | null): Mismatch | undefined {
  const yaml = /(failed to convert to apply proxy config: yaml: )[^]*$/;
  return expectEqual(actual?.replace(yaml, '$1') ?? null, wanted?.replace(yaml, '$1') ?? null);
}
