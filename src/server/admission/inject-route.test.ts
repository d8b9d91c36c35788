import assert from 'node:assert/strict';
import { injectRoute, readyRoute } from './pod-routes.ts';

describe("Istio's own path", () => {
  it('is unavailable while nothing has been loaded, never not found', () => {
    const target = injectRoute(() => undefined, {}).resolve('/inject');
    assert.deepEqual(target, { unavailable: 'no configuration has been loaded yet' });
  });

  for (const path of ['/', '/injection', '/revisions/a/b/inject', '/inject2/x']) {
    it(`is not ${path}`, () => {
      assert.equal(injectRoute(() => undefined, {}).resolve(path), undefined);
    });
  }
});

describe('/readyz on the port of the webhook', () => {
  const status = (problem: string | undefined): number | undefined => {
    const target = readyRoute(() => problem).resolve('/readyz');
    return target !== undefined && 'page' in target ? target.page().status : undefined;
  };
  it('answers 200 when nothing is missing, else 503', () => {
    assert.equal(status(undefined), 200);
    assert.equal(status('draining'), 503);
  });
  it('is one path', () => {
    assert.equal(readyRoute(() => undefined).resolve('/healthz'), undefined);
  });
});
