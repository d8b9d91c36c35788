import assert from 'node:assert/strict';
import { loadInjector, type Injector } from '../injector.ts';
import { authorUses } from './author-uses.ts';

function injectorOf(template: string, annotationOverrides: object): Injector {
  const config = JSON.stringify({ policy: 'enabled', templates: { sidecar: template } });
  return loadInjector({ config, values: '{}', mesh: '', settings: JSON.stringify({ annotationOverrides }) });
}

/** Formats uses as `kind name`, with `+` if they are allowed. */
function shown(template: string, allow: string[] = []): string[] {
  return authorUses(injectorOf(template, { preset: 'Safe', allow })).map(
    ({ of, name, kind, allowed, why }) =>
      `${kind} ${of} ${name}${allowed ? ' +' : ''}${why === undefined ? '' : ` (${why})`}`,
  );
}

describe('authorUses', () => {
  const all = [
    '{{ .ObjectMeta.Annotations.team }}',
    '{{ if .ObjectMeta.Labels.debug }}x{{ end }}',
    '{{ range fromJSON .ObjectMeta.Annotations.list }}{{ . }}{{ end }}',
    '{{ annotation .ObjectMeta "sidecar.istio.io/proxyImage" "" }}',
    '{{ annotation .ObjectMeta "traffic.sidecar.istio.io/includeInboundPorts" "" }}',
  ].join('');

  it('sorts by kind and name, and explains structural annotations', () => {
    assert.deepEqual(shown(all, ['team', 'traffic.sidecar.istio.io/*']), [
      'structural annotation sidecar.istio.io/proxyImage (it chooses the image of the proxy)',
      'structural annotation traffic.sidecar.istio.io/includeInboundPorts + (it decides which traffic goes through the proxy)',
      'parsed annotation list',
      'steering label debug',
      'scalar annotation team +',
    ]);
  });

  it('reports a range over all labels as a star', () => {
    assert.deepEqual(shown('{{ range $k, $v := .ObjectMeta.Labels }}{{ $v }}{{ end }}'), ['steering label *']);
    assert.deepEqual(shown('constant'), []);
  });

  it('fails under preset Istio', () => {
    assert.throws(() => authorUses(injectorOf(all, { preset: 'Istio', allow: [] })), {
      name: 'ConfigurationError',
      message: /preset Istio classifies no annotation/,
    });
  });
});
