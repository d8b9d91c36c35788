/** A template snippet with Go's result. */
export interface TemplateRow {
  readonly template: string;
  readonly output: string;
  readonly error: string | null;
  readonly note?: string;
}

export interface TemplateResult {
  readonly output: string;
  readonly error: string | null;
}

/** A class of rows in which the engine deliberately differs from Go, or Go's results vary. */
export interface TemplateDifference {
  readonly name: string;
  readonly reason: string;
  readonly explains: (row: TemplateRow, actual: TemplateResult) => boolean;
}

const address = /0x[0-9a-f]+/g;

export const templateDifferences: readonly TemplateDifference[] = [
  {
    name: 'template-pointer-address',
    reason: 'Go prints the address of a pointer, which differs in every process.',
    explains: (row, actual) => row.output.replace(address, '0x') === actual.output.replace(address, '0x'),
  },
  {
    name: 'template-unstable-text',
    reason: 'Go prints the text form of protobuf, which contains random spaces. The recorder marks these rows.',
    explains: (row, actual) => (row.note ?? '').includes('do not compare') && actual.error === row.error,
  },
  {
    name: 'template-quantity-internals',
    reason: 'Go prints the private fields of a quantity, which depend on how the quantity was parsed.',
    explains: (row, actual) =>
      row.output.replace(/\{\{\d+ -?\d+\} \{<nil>\} \S* DecimalSI\}/g, '{DecimalSI}') === actual.output,
  },
];
