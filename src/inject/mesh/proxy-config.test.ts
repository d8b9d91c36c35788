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

describe('applyProxyConfig, the command line’s way', () => {
  it('sets what is there, zeros too, and merges metadata and headers by part', () => {
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

  it('keeps metadata that an empty map would clear', () => {
    assert.deepEqual(applyProxyConfig(base, { proxyMetadata: {} }).proxyMetadata, { A: '1', B: '2' });
  });

  it('is the base itself for nothing', () => {
    assert.equal(applyProxyConfig(base, null), base);
  });
});

describe('overlayProxyConfig, the webhook’s way', () => {
  it('sets only what protobuf knows as set', () => {
    const top = decodeProxyConfig({ statusPort: 0, concurrency: 0, proxyMetadata: { C: '4' } });
    const config = overlayProxyConfig(base, top);
    assert.equal(config.statusPort, 15020);
    assert.equal(config.concurrency, 0);
    assert.deepEqual(config.proxyMetadata, { A: '1', B: '2', C: '4' });
    assert.deepEqual(config.extraStatTags, ['a']);
  });

  it('is the base itself for nothing', () => {
    assert.equal(overlayProxyConfig(base, {}), base);
  });
});
