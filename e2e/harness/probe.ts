import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';

/**
 * Whether an HTTP or HTTPS address answers with status 200; false on any error.
 *
 * @param authority PEM of the authority that the server's certificate is checked against
 */
export function answersOk(url: string, authority?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const get = url.startsWith('https:') ? httpsGet : httpGet;
    const options = { agent: false as const, timeout: 2000, ...(authority === undefined ? {} : { ca: authority }) };
    const request = get(url, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => {
      resolve(false);
    });
  });
}
