import assert from 'node:assert/strict';
import { annotationProblems, validatedAnnotations } from './validate-annotations.ts';

describe('annotationProblems', () => {
  it('checks 19 annotations', () => {
    assert.equal(validatedAnnotations.length, 19);
  });

  it('accepts other annotations', () => {
    assert.equal(annotationProblems({ 'example.com/a': '\n', constructor: 'x' }), undefined);
  });

  const good: [annotation: string, values: string[]][] = [
    ['sidecar.istio.io/proxyCPU', ['100m', '1', '.5', '1e3', '2Gi', '+1']],
    ['sidecar.istio.io/interceptionMode', ['REDIRECT', 'TPROXY', 'NONE']],
    ['status.sidecar.istio.io/port', ['0', '15021', ' 80 ']],
    ['traffic.sidecar.istio.io/includeInboundPorts', ['', '*', '80', '80, 443']],
    ['traffic.sidecar.istio.io/excludeInboundPorts', ['', '22,23']],
    ['traffic.sidecar.istio.io/includeOutboundIPRanges', ['', '*', '10.0.0.0/8,fd00::/8']],
    ['traffic.sidecar.istio.io/excludeInterfaces', ['', 'eth0, net_1', 'exactly15chars0']],
    ['prometheus.istio.io/merge-metrics', ['true', 'F', '1']],
    ['readiness.status.sidecar.istio.io/periodSeconds', ['0', '4294967295']],
    ['proxy.istio.io/config', ['', 'concurrency: 2', 'drainDuration: 10s\nunknown: 1']],
  ];
  for (const [annotation, values] of good) {
    for (const value of values) {
      it(`accepts ${annotation}: ${JSON.stringify(value)}`, () => {
        assert.equal(annotationProblems({ [annotation]: value }), undefined);
      });
    }
  }

  const quantityPattern = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';
  const long = 'sixteencharslong';
  const notAPort = `${"failed parsing port '*': ".repeat(2)}strconv.ParseUint: parsing "*": invalid syntax`;
  const outOfRange = 'strconv.ParseUint: parsing "70000": value out of range';
  const bad: [annotation: string, value: string, problem: string][] = [
    ['sidecar.istio.io/proxyCPU', '1\n- x', 'value contains control characters'],
    ['sidecar.istio.io/proxyMemory', '1 Gi', `quantities must match the regular expression '${quantityPattern}'`],
    ['sidecar.istio.io/proxyMemoryLimit', '1K', "unable to parse quantity's suffix"],
    ['sidecar.istio.io/interceptionMode', 'redirect', 'interceptionMode invalid, use REDIRECT,TPROXY,NONE: redirect'],
    [
      'status.sidecar.istio.io/port',
      'x',
      'excludeInboundPorts invalid: failed parsing port \'x\': strconv.ParseUint: parsing "x": invalid syntax',
    ],
    [
      'traffic.sidecar.istio.io/excludeOutboundPorts',
      '80,70000',
      `excludeOutboundPorts invalid: failed parsing port '70000': failed parsing port '70000': ${outOfRange}`,
    ],
    ...(
      [
        ['excludeOutboundIPRanges', '*', "no '/'"],
        ['includeOutboundIPRanges', '10.0.0.0/40', 'prefix length out of range'],
        ['includeOutboundIPRanges', '10.0.0.0/x', 'bad bits after slash: "x"'],
        ['includeOutboundIPRanges', '01.0.0.0/8', 'ParseAddr("01.0.0.0"): IPv4 field has octet with leading zero'],
        ['includeOutboundIPRanges', '1.2/8', 'ParseAddr("1.2"): unable to parse IP'],
        ['includeOutboundIPRanges', '1.x.0.0/8', 'ParseAddr("1.x.0.0"): unexpected character (at "x.0.0")'],
        ['includeOutboundIPRanges', 'x/8', 'ParseAddr("x"): unable to parse IP'],
        ['includeOutboundIPRanges', '::1%eth0/64', 'IPv6 zones cannot be present in a prefix'],
      ] as const
    ).map(([name, block, problem]): [string, string, string] => [
      `traffic.sidecar.istio.io/${name}`,
      block,
      `${name.replace('Outbound', '')} invalid: failed parsing cidr '${block}': netip.ParsePrefix("${block}"): ${problem}`,
    ]),
    ['traffic.sidecar.istio.io/excludeOutboundPorts', '*', `excludeOutboundPorts invalid: ${notAPort}`],
    ['istio.io/reroute-virtual-interfaces', 'eth0,', 'empty interface name'],
    ['traffic.sidecar.istio.io/kubevirtInterfaces', long, `interface name "${long}" too long (max 15 chars)`],
    ['traffic.sidecar.istio.io/excludeInterfaces', '..', 'interface name ".." contains invalid characters'],
    ['prometheus.istio.io/merge-metrics', 'yes', 'strconv.ParseBool: parsing "yes": invalid syntax'],
    ['readiness.status.sidecar.istio.io/failureThreshold', '-1', 'strconv.ParseUint: parsing "-1": invalid syntax'],
    [
      'proxy.istio.io/config',
      'concurrency: many',
      "failed to convert to apply proxy config: invalid character 'm' looking for beginning of value",
    ],
    [
      'proxy.istio.io/config',
      'statusPort: 0',
      '1 error occurred:\n\t* invalid status port: port number 0 must be in the range 1..65535\n\n',
    ],
  ];
  for (const [annotation, value, problem] of bad) {
    it(`refuses ${annotation}: ${JSON.stringify(value)}`, () => {
      const invalid = `invalid value '${value}' for annotation '${annotation}'`;
      assert.equal(annotationProblems({ [annotation]: value }), `1 error occurred:\n\t* ${invalid}: ${problem}\n\n`);
    });
  }

  it('counts several problems', () => {
    const problems = annotationProblems({ 'sidecar.istio.io/proxyCPU': '', 'sidecar.istio.io/interceptionMode': '' });
    const first = "invalid value '' for annotation 'sidecar.istio.io/interceptionMode'";
    assert.ok(problems?.startsWith(`2 errors occurred:\n\t* ${first}`), problems);
  });
});
