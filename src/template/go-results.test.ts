import assert from 'node:assert/strict';
import { functionsOfFamily } from './functions/go/function-families.ts';
import { compileTemplate } from './template.ts';
import { TemplateError } from './template-error.ts';
import { mismatches, readGoResults } from './testdata/go-results.ts';

describe('templates as Go renders them', () => {
  const results = readGoResults();

  it('has a table of at least 3,000 rows, a fifth of which fail', () => {
    const failing = results.rows.filter(({ out }) => out === undefined).length;
    assert.ok(results.rows.length >= 3000);
    assert.ok(failing > results.rows.length / 5);
  });

  it('renders every row of the table to the same text, or fails where Go does', () => {
    assert.deepEqual(mismatches(results, { compileTemplate, functionsOfFamily, TemplateError }), []);
  });
});
