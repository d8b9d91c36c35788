import assert from 'node:assert/strict';
import { portProblem, proxyAddressProblem } from './validate-proxy-config.ts';

describe('proxyAddressProblem', () => {
  const longest = `${'a.'.repeat(127)}a`;
  const right = [`${longest}:80`, 'zipkin:1', '10.0.0.1:80', '[::1]:80', 'name.:443', '127.0.0.1:65535'];
  for (const address of right) {
    it(`accepts ${address}`, () => {
      assert.equal(proxyAddressProblem(address), undefined);
    });
  }
  const wrong: [address: string, problem: string][] = [
    ['host', 'unable to split "host": address host: missing port in address'],
    ['a:b:c', 'unable to split "a:b:c": address a:b:c: too many colons in address'],
    ['[::1', 'unable to split "[::1": address [::1: missing \']\' in address'],
    ['[::1]', 'unable to split "[::1]": address [::1]: missing port in address'],
    ['[::1]:8:80', 'unable to split "[::1]:8:80": address [::1]:8:80: too many colons in address'],
    ['[::1]x:80', 'unable to split "[::1]x:80": address [::1]x:80: missing port in address'],
    ['a]:80', 'unable to split "a]:80": address a]:80: unexpected \']\' in address'],
    ['host:http', 'port (http) is not a number: strconv.Atoi: parsing "http": invalid syntax'],
    ['host:0', 'port number 0 must be in the range 1..65535'],
    ['host:65536', 'port number 65536 must be in the range 1..65535'],
    ['under_score:80', '"under_score" is not a valid hostname or an IP address'],
    ['1.2.3:80', '"1.2.3" is not a valid hostname or an IP address'],
    [`${longest}.:80`, `"${longest}." is not a valid hostname or an IP address`],
    [':80', '"" is not a valid hostname or an IP address'],
  ];
  for (const [address, problem] of wrong) {
    it(`rejects ${address}`, () => {
      assert.equal(proxyAddressProblem(address), problem);
    });
  }

  it('limits port numbers', () => {
    assert.equal(portProblem(1), undefined);
    assert.match(portProblem(-1) ?? '', /port number -1/);
  });
});
