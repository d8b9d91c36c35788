/** Two examples for the help of each command: the text after the command name. */
const examples: Readonly<Record<string, readonly [string, string]>> = {
  '': ['inject -f app.yaml --config examples/hello.yaml', 'check deployment/web --namespace shop'],
  install: ['', '--set image.registry=registry.example.com -f values.yaml'],
  uninstall: ['', '--purge -y'],
  operator: ['--namespace sidecar-injector-system', '--role webhook --log-format json'],
  inject: ['-f app.yaml --config hello.yaml | kubectl apply -f -', '-f app.yaml --config-dir /etc/istio/inject'],
  annotations: ['--config examples/hello.yaml', '--config-dir /etc/istio/inject -o json'],
  'kube-inject': ['-f app.yaml | kubectl apply -f -', '-f app.yaml -i istio-system --revision 1-25 -o out.yaml'],
  serve: ['--config-dir D --tls-cert tls.crt --tls-key tls.key', '--config-dir D --tls-cert F --tls-key F --port 8443'],
  template: ['--file sidecar.tpl --data data.json', '--batch rows.json -o results.json'],
  tag: ['set prod --revision 1-25 --overwrite', 'list'],
  'tag set': ['prod --revision 1-25 --overwrite', 'prod --revision 1-24 --timeout 0'],
  'tag generate': ['prod --revision 1-25 | kubectl apply -f -', 'default --revision 1-25 -o json'],
  'tag list': ['', '-o json'],
  'tag remove': ['prod-canary', 'prod-canary -y'],
  'tag undo': ['prod', 'prod --yes'],
  'tag watch': ['prod', 'prod -o json >> rollout.log'],
  'tag promote': ['prod --full', 'prod --step'],
  'tag abort': ['prod', 'prod --timeout 0'],
  'tag pause': ['prod', 'prod --timeout 0'],
  'tag resume': ['prod', 'prod --timeout 0'],
  'tag retry': ['prod', 'prod --timeout 0'],
  revisions: ['', '-o json'],
  status: ['--stale', '--namespace shop -o json'],
  certs: ['status', 'rotate 1-24 --wait'],
  'certs status': ['', '1-24 -o json'],
  'certs rotate': ['1-24', '1-24 --ca --wait'],
  'certs export-ca': ['1-24 > ca.crt', '1-24 -o ca.crt'],
  'certs create': ['--service S --namespace N --out tls/', '--service S --namespace N --secret S > secret.yaml'],
  'certs patch-ca-bundle': ['--ca ca.crt < webhook.yaml', '< webhook.yaml | kubectl apply -f -'],
  check: ['deployment/web --namespace shop', '-f app.yaml -f namespace.yaml -f examples/hello.yaml'],
  uninject: ['-f injected.yaml', '-f injected.yaml --config examples/hello.yaml -o app.yaml'],
  diff: ['--to 1-25', '-f new.yaml --since main --manifests apps/'],
  lint: ['injectors/', 'injectors/ -o sarif > lint.sarif'],
  analyze: ['', '--namespace shop -o json'],
  disable: ['--all', '1-25 --dry-run'],
  release: ['--all', '1-25 --dry-run'],
  enable: ['--all', '1-25 --dry-run'],
  completion: ['bash > /etc/bash_completion.d/injector', 'fish | source'],
  crd: ['| kubectl apply --server-side -f -', '-o json'],
  version: ['', '-o json'],
};

/** Returns examples for a help text. @param name a command such as `tag set`, or empty */
export function examplesOf(name: string): string {
  const calls = examples[name]?.map((rest) => `\n  ${['injector', name, rest].filter(Boolean).join(' ')}`);
  return calls === undefined ? '' : `\nExamples:${calls.join('')}`;
}
