import assert from 'node:assert/strict';
import { compileTemplate } from '../../template/template.ts';
import { KnownTemplates } from './known-templates.ts';

describe('KnownTemplates', () => {
  it('finds the templates of each context until 64 others are noted', () => {
    const known = new KnownTemplates();
    const template = compileTemplate('a', { name: 'n', functions: {} });
    const note = (context: string): void => known.note(context, new Map([['n', 'a']]), new Map([['n', template]]));
    const found = (): boolean[] => ['first', 'second'].map((context) => known.find(context, 'a') === template);
    note('first');
    assert.deepEqual(found(), [true, false]);
    for (let other = 1; other < 63; other += 1) note(`other ${other}`);
    note('second');
    assert.deepEqual(found(), [true, true]);
    note('one more');
    assert.deepEqual(found(), [false, true]);
    known.note('second', new Map([['n', 'b']]), new Map([['n', template]]));
    assert.deepEqual(found(), [false, false], 'an edit takes the place of what was known');
    assert.equal(known.find('second', 'b'), template);
  });
});
