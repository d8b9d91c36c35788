import assert from 'node:assert/strict';
import { conditionProblems } from './lint-conditions.ts';

const guard = "has(object.metadata.labels) && 'x' in object.metadata.labels";
const unguarded = "object.metadata.labels['x'] == 'y'";

/** Expressions with a problem, its message, and whether the remedy is an expression. */
const mistakes: [expression: string, message: RegExp, isGuarded: boolean][] = [
  [
    unguarded,
    /fails for an ordinary pod: No such key: x; under failurePolicy Fail the pod is refused; write has/,
    true,
  ],
  ["object.metadata.labels['app'] == 'web'", /fails for a pod without labels: No such key: labels/, true],
  ["object.metadata.annotations['example.com/a'].contains('b')", /for a pod without annotations/, true],
  ["object.metadata.ownerReferences[0].kind == 'ReplicaSet'", /for a pod without ownerReferences/, true],
  ["object.metadata.name.startsWith('web')", /for a pod without name/, true],
  ["object.metadata.labels['x'] != 'y'", /test each optional field with has\(\)/, false],
  [`${unguarded} || true == false`, /test each optional field with has\(\)/, false],
  ["object.metadata.labels['x'", /the API server refuses .*: Expected RBRACKET/, false],
  ["objct.metadata.name == 'web'", /the API server refuses .*: Unknown variable: objct/, false],
  ['size(object.metadata.labels)', /its value is of type int, not bool/, false],
];

/** Expressions that hold or are false for all typical pods, or that cel-js does not know. */
const accepted = [
  `${guard} && ${unguarded}`,
  `!(${guard}) || ${unguarded}`,
  "object.?metadata.?labels['x'].orValue('') == 'y'",
  "request.userInfo.username == 'system:serviceaccount:a:b'",
  "quantity('1').isLessThan(quantity('2'))",
  "authorizer.group('').resource('pods').check('create').allowed()",
  "namespaceObject.metadata.name == 'shop'",
  'has(object.metadata.`labels`)',
  "object.metadata.labels.all(key, value, key != '')",
  "['a'][?0] == optional.of('a')",
];

describe('conditionProblems', () => {
  const problemsOf = (...expressions: string[]) => {
    const matchConditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }));
    return conditionProblems({ name: 'w', failurePolicy: 'Fail', matchConditions });
  };
  for (const [expression, message, isGuarded] of mistakes) {
    it(`finds the mistake in ${expression}`, () => {
      const [problem, ...others] = problemsOf(expression);
      assert.match(problem?.message ?? '', message);
      assert.deepEqual([others, problem?.guarded !== undefined, problem?.isFatal], [[], isGuarded, true]);
      if (problem?.guarded !== undefined) assert.deepEqual(problemsOf(problem.guarded), []);
    });
  }

  for (const expression of accepted) it(`accepts ${expression}`, () => assert.deepEqual(problemsOf(expression), []));

  it('ignores a failure if another condition is false, or no selected pod causes it', () => {
    assert.deepEqual(problemsOf(unguarded, guard), []);
    const matchConditions = [{ name: 'c', expression: unguarded }];
    assert.deepEqual(
      conditionProblems({ name: 'w', matchConditions, objectSelector: { matchLabels: { x: 'y' } } }),
      [],
    );
    const [skipped] = conditionProblems({ name: 'w', matchConditions, failurePolicy: 'Ignore' });
    assert.equal(skipped?.isFatal, false);
  });
});
