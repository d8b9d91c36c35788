/** Returns `size` random bytes, like `randomBytes` of node:crypto; callers provide the function. */
export type RandomBytes = (size: number) => Uint8Array;

/**
 * Returns a serial number of 16 bytes as lower-case hex, positive and without a leading zero byte.
 * RFC 5280 section 4.1.2.2 requires a positive integer of at most 20 octets; Go's crypto/x509
 * refuses a number whose first bit is set.
 */
export function randomSerialNumber(random: RandomBytes): string {
  const bytes = Buffer.from(random(16));
  bytes[0] = (bytes.readUInt8(0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/** Returns a number in [0, 1) with 32 random bits, for jitter. */
export function randomFraction(random: RandomBytes): number {
  return Buffer.from(random(4)).readUInt32BE(0) / 2 ** 32;
}
