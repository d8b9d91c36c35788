/** Returns `size` random bytes; `randomBytes` of node:crypto fits. Randomness is an argument: src/certs has none of its own. */
export type RandomBytes = (size: number) => Uint8Array;

/**
 * A serial number for a certificate: 16 bytes as lower-case hex, positive and without a leading zero byte.
 * RFC 5280 section 4.1.2.2 wants a positive integer of at most 20 octets; Go's crypto/x509 refuses a certificate whose first bit is set.
 */
export function randomSerialNumber(random: RandomBytes): string {
  const bytes = Buffer.from(random(16));
  bytes[0] = (bytes.readUInt8(0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/** A number in [0, 1) with 32 bits of randomness, for jitter. */
export function randomFraction(random: RandomBytes): number {
  return Buffer.from(random(4)).readUInt32BE(0) / 2 ** 32;
}
