import assert from 'node:assert/strict';
import type { LabelSelector, LabelSelectorRequirement } from '../api/kubernetes.ts';
import { areDisjoint } from './disjoint-selectors.ts';

const team = (operator: LabelSelectorRequirement['operator'], ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'team', operator, ...(values.length === 0 ? {} : { values }) }],
});
const is = (value: string): LabelSelector => ({ matchLabels: { team: value } });

describe('areDisjoint', () => {
  const cases: [what: string, one: LabelSelector, other: LabelSelector, disjoint: boolean][] = [
    ['two that take everything', {}, {}, false],
    ['one that takes everything', {}, is('a'), false],
    ['the same label with the same value', is('a'), is('a'), false],
    ['the same label with two values', is('a'), is('b'), true],
    ['two labels', is('a'), { matchLabels: { stage: 'b' } }, false],
    ['In with values in common', team('In', 'a', 'b'), team('In', 'b', 'c'), false],
    ['In without values in common', team('In', 'a', 'b'), team('In', 'c'), true],
    ['a label and In without it', is('a'), team('In', 'b', 'c'), true],
    ['Exists and DoesNotExist', team('Exists'), team('DoesNotExist'), true],
    ['In and DoesNotExist', team('In', 'a'), team('DoesNotExist'), true],
    ['In and Exists', team('In', 'a'), team('Exists'), false],
    ['NotIn and DoesNotExist', team('NotIn', 'a'), team('DoesNotExist'), false],
    ['NotIn and Exists', team('NotIn', 'a'), team('Exists'), false],
    ['In and NotIn of all of it', team('In', 'a', 'b'), team('NotIn', 'a', 'b', 'c'), true],
    ['In and NotIn of a part of it', team('In', 'a', 'b'), team('NotIn', 'a'), false],
    ['NotIn and NotIn', team('NotIn', 'a'), team('NotIn', 'b'), false],
    [
      'disjoint by a second key alone',
      { matchLabels: { team: 'a', stage: 'x' } },
      { matchLabels: { stage: 'y' } },
      true,
    ],
  ];
  for (const [what, one, other, disjoint] of cases) {
    it(`${what}: ${disjoint ? 'yes' : 'no'}`, () => {
      assert.equal(areDisjoint(one, other), disjoint);
      assert.equal(areDisjoint(other, one), disjoint);
    });
  }
});
