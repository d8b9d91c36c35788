import assert from 'node:assert/strict';
import { applyProxyConfig, decodeProxyConfig, overlayProxyConfig } from './proxy-config.ts';

const base = decodeProxyConfig({
  statusPort: 15020,
  concurrency: 2,
  extraStatTags: ['a'],
  tracing: { zipkin: { address: 'z:1' }, sampling: 10 },
  proxyMetadata: { A: '1', B: '2' },
  proxyHeaders: { server: { disabled: true } },
});

describe('applyProxyConfig, for the command line', () => {
  it('sets present fields including zeros, and merges metadata and headers', () => {
    const config = applyProxyConfig(base, {
      statusPort: 0,
      extraStatTags: [],
      tracing: { sampling: 5 },
      proxyMetadata: { B: '3' },
      proxyHeaders: { requestId: { disabled: true } },
    });
    assert.deepEqual(config, {
      concurrency: 2,
      tracing: { sampling: 5 },
      proxyMetadata: { A: '1', B: '3' },
      proxyHeaders: { requestId: { disabled: true }, server: { disabled: true } },
    });
  });

  it('keeps metadata when the new map is empty', () => {
    assert.deepEqual(applyProxyConfig(base, { proxyMetadata: {} }).proxyMetadata, { A: '1', B: '2' });
  });

  it('returns the base for null', () => {
    assert.equal(applyProxyConfig(base, null), base);
  });
});

describe('overlayProxyConfig, for the webhook', () => {
  it('applies only fields that protobuf considers set', () => {
    const top = decodeProxyConfig({ statusPort: 0, concurrency: 0, proxyMetadata: { C: '4' } });
    const config = overlayProxyConfig(base, top);
    assert.equal(config.statusPort, 15020);
    assert.equal(config.concurrency, 0);
    assert.deepEqual(config.proxyMetadata, { A: '1', B: '2', C: '4' });
    assert.deepEqual(config.extraStatTags, ['a']);
  });

  it('returns the base for an empty message', () => {
    assert.equal(overlayProxyConfig(base, {}), base);
  });
});
