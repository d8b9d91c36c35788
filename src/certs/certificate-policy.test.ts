import assert from 'node:assert/strict';
import {
  checkCertificatePolicy,
  defaultCertificatePolicy,
  durationText,
  type CertificatePolicy,
} from './certificate-policy.ts';

const second = 1000;
const day = 86_400 * second;

describe('checkCertificatePolicy', () => {
  it('accepts the defaults', () => {
    checkCertificatePolicy(defaultCertificatePolicy);
  });

  const bad: [string, Partial<CertificatePolicy>, string][] = [
    ['a leaf that lives as long as its authority', { leafDuration: 365 * day }, 'leafDuration'],
    ['a leaf that lives less than two seconds', { leafDuration: 1999 }, 'leafDuration'],
    ['a leaf duration of zero', { leafDuration: 0 }, 'leafDuration'],
    ['a negative duration', { leafDuration: -day }, 'leafDuration'],
    ['a duration that is not a number', { leafDuration: NaN }, 'leafDuration'],
    ['an infinite duration', { caDuration: Infinity }, 'caDuration'],
    ['a duration of more than a hundred years', { caDuration: 101 * 365 * day }, 'caDuration'],
    ['a renewal at the end of the lifetime', { renewalFraction: 1 }, 'renewalFraction'],
    ['a renewal at the start of the lifetime', { renewalFraction: 0 }, 'renewalFraction'],
    ['a renewal fraction that is not a number', { renewalFraction: NaN }, 'renewalFraction'],
    ['a weak key', { keySize: 1024 }, 'keySize'],
    ['a negative confirmation period', { confirmationPeriod: -1 }, 'confirmationPeriod'],
    [
      'a confirmation period longer than the remaining lifetime of the authority',
      { leafDuration: 60 * second, caDuration: 180 * second, confirmationPeriod: 61 * second },
      'confirmationPeriod',
    ],
  ];
  for (const [what, change, field] of bad) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => {
          checkCertificatePolicy({ ...defaultCertificatePolicy, ...change });
        },
        { name: 'CertificatePolicyError', field, message: new RegExp(field) },
      );
    });
  }
});

describe('durationText', () => {
  const table: [number, string][] = [
    [604_800_000, '168h'],
    [5_400_000, '90m'],
    [61_000, '61s'],
    [1500, '1.5s'],
    [0, '0s'],
    [-3_600_000, '-1h'],
    [NaN, 'NaNs'],
    [Infinity, 'Infinitys'],
  ];
  for (const [milliseconds, text] of table) {
    it(`writes ${text}`, () => {
      assert.equal(durationText(milliseconds), text);
    });
  }
});
