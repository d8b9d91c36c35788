import assert from 'node:assert/strict';
import { evaluateCondition } from './cel-condition.ts';

const object = {
  metadata: { name: 'web', namespace: 'shop', labels: { tier: 'web', 'example.com/a': 'b' } },
  spec: { hostNetwork: true, priority: 7, containers: [{ name: 'one', image: 'x:1' }, { name: 'two' }] },
};
const request = { operation: 'CREATE', namespace: 'shop', dryRun: false, name: 'web' };

/** The scenario check-agrees compares these results with kube-apiserver 1.36. */
const evaluated: [expression: string, result: 'true' | 'false' | 'error'][] = [
  ["object.metadata.labels.tier == 'web'", 'true'],
  ["object.metadata.labels['example.com/a'] == 'c'", 'false'],
  ["'tier' in object.metadata.labels", 'true'],
  ['has(object.metadata.annotations)', 'false'],
  ["'a' in object.metadata.annotations", 'error'],
  ["object.metadata.labels.none == 'x'", 'error'],
  ["object.metadata.labels.none == 'x' || true", 'true'],
  ["object.metadata.labels.none == 'x' && false", 'false'],
  ['object.spec.priority > 5', 'true'],
  ['object.spec.priority / 2 == 3', 'true'],
  ['object.spec.priority + 0.5 > 7.0', 'error'],
  ['object.spec.priority == 7.0', 'true'],
  ["object.spec.priority < 'x'", 'error'],
  ["object.spec.containers.all(c, c.name != '')", 'true'],
  ["object.spec.containers.all(c, c.image != '')", 'error'],
  ["object.spec.containers.exists(c, c.image == 'x:1')", 'true'],
  ["object.spec.containers.exists_one(c, c.name.startsWith('t'))", 'true'],
  ['object.spec.containers.size() == 2', 'true'],
  ["object.metadata.labels.exists(key, key.endsWith('/a'))", 'true'],
  ["object.metadata.name.matches('^w[a-z]+$')", 'true'],
  ["object.metadata.?annotations['x'].orValue('none') == 'none'", 'true'],
  ["oldObject == null && request.operation == 'CREATE'", 'true'],
  ['request.dryRun', 'false'],
  ['object.metadata.name', 'error'],
  // The unknown creator does not affect these results.
  ["object.metadata.name == 'web' || request.userInfo.username == 'x'", 'true'],
  ["'x' in request.userInfo.groups && object.metadata.name == 'other'", 'false'],
  ["'\u{1F600}'.size() == 1", 'true'],
];

/** Expressions whose unknown parts do not affect the result. */
const decided: [expression: string, result: 'true' | 'false'][] = [
  ["object.metadata.name == 'web' || quantity('1').isLessThan(quantity('2'))", 'true'],
  ["quantity('1').isLessThan(quantity('2')) || object.metadata.name == 'web'", 'true'],
  ["!('none' in object.metadata.labels) || authorizer.group('').resource('pods').check('create').allowed()", 'true'],
  ["object.metadata.name.find('w') == 'w' && object.metadata.name == 'other'", 'false'],
  ["object.metadata.name == 'other' ? request.uid == '' : true", 'true'],
  ["object.spec.containers.exists(c, c.name == 'two' || c.image.find('x') == '')", 'true'],
  ["object.spec.containers.all(c, c.name == 'one' && c.name.find('o') == 'o')", 'false'],
  ["has(object.metadata.annotations) && object.metadata.name.matches('(?i)x')", 'false'],
];

const undecided: [expression: string, mention: RegExp][] = [
  ["object.metadata.name == 'other' || quantity('1').isLessThan(quantity('2'))", /isLessThan\(\)/],
  ["has(object.metadata.name.find('w').x)", /find\(\)/],
  ['has(request.uid)', /request\.uid/],
  ["object.spec.containers.filter(c, c.name.find('o') == 'o').size() == 1", /find\(\)/],
  ["object.metadata.labels.none == 'x' || object.metadata.name.find('w') == 'w'", /find\(\)/],
  ["quantity('1').isLessThan(quantity('2'))", /isLessThan\(\)/],
  ["object.metadata.name.find('w') == 'w'", /find\(\)/],
  ["object.metadata.name.matches('(?i)WEB')", /regular expression/],
  ['object.metadata.name.matches(object.metadata.labels.tier)', /regular expression/],
  ["authorizer.group('').resource('pods').check('create').allowed()", /allowed\(\)/],
  ['authorizer == null', /authorizer/],
  ["request.userInfo.username == 'x'", /--as/],
  ["request.userInfo.username == 'x' || object.metadata.name == 'other'", /--as/],
  ['has(request.userInfo.username)', /--as/],
  ["request.?userInfo.username.orValue('') == ''", /--as/],
  ["request.userInfo.uid == 'x'", /request\.userInfo\.uid/],
  ['has(oldObject.metadata)', /oldObject/],
  ["request.uid == ''", /request\.uid/],
  ["request['operation'] == 'CREATE'", /request\[…\]/],
  ["namespaceObject.metadata.name == 'shop'", /namespaceObject/],
  ['object.metadata.name ==', /cannot be parsed/],
  ["'a' + 1 == 'a1'", /cannot be checked/],
];

describe('evaluateCondition', () => {
  for (const [expression, result] of [...evaluated, ...decided]) {
    it(`evaluates ${expression} to ${result}`, () => {
      assert.equal(evaluateCondition(expression, { object, request }).result, result);
    });
  }

  for (const [expression, mention] of undecided) {
    it(`reports ${expression} as unknown, with the reason`, () => {
      const found = evaluateCondition(expression, { object, request });
      assert.equal(found.result, 'unknown');
      assert.match('message' in found ? found.message : '', mention);
    });
  }

  it('uses the creator of the pod if the request contains it', () => {
    const userInfo = { username: 'ann', groups: ['developers'] };
    const expression = "request.userInfo.username == 'ann' && 'developers' in request.userInfo.groups";
    assert.equal(evaluateCondition(expression, { object, request: { ...request, userInfo } }).result, 'true');
  });
});
