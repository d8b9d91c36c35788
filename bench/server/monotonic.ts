/** Returns milliseconds of a clock that all threads share; `performance.now` differs by thread. */
export function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
