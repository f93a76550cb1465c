/** The settings of a verifier, checked once when it is made, so that a mistake shows at the start and not at a form. */
import type { FailMode, VerifyResult } from './verify-result.ts';

export interface VerifierOptions {
  /** The site's secret key. */
  secret: string;
  /** The service's address, such as `https://gatehouse.example.com`. */
  serviceUrl: string;
  /** For all attempts together. Default 5,000. */
  timeoutMs?: number;
  /** Attempts after the first one. Default 2, at most 5. */
  retries?: number;
  /** `closed` (default): a form does not pass while the service does not respond. `open`: it does. */
  failMode?: FailMode;
  /** The action that a token must have. */
  expectedAction?: string;
  /** The host name of the page, or all that count. */
  expectedHostname?: string | readonly string[];
  /** The lowest level that counts: 0 any, 1 a proof of work, 2 four times the work, with an image or a puzzle. */
  minimumLevel?: 0 | 1 | 2;
  /** Throw `ServiceUnavailableError` instead of returning the outcome `unavailable`. Default `false`. */
  throwUnavailable?: boolean;
  /** Allow `http:` to another machine. The secret then crosses the network in clear text. */
  allowHttp?: boolean;
  /** Called with every result, for logs and metrics. */
  onResult?: (result: VerifyResult) => void;
  /** Instead of the runtime's own, for example a service binding's. */
  fetch?: typeof fetch;
}

export type Settings = Required<
  Omit<VerifierOptions, 'expectedAction' | 'expectedHostname' | 'minimumLevel' | 'onResult'>
> & {
  url: string;
  expectedAction: string | undefined;
  expectedHostnames: readonly string[];
  minimumLevel: 0 | 1 | 2 | undefined;
  onResult: ((result: VerifyResult) => void) | undefined;
};

const TIMEOUT_MS = 5000;
/** `setTimeout` fires at once for a longer one. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;
const RETRIES = 2;
const RETRIES_MAX = 5;
const SECRET_MAX_CHARS = 256;
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** @throws {TypeError} naming the option that is wrong. */
export function settingsOf(options: VerifierOptions): Settings {
  const { secret, timeoutMs = TIMEOUT_MS, retries = RETRIES, failMode = 'closed', allowHttp = false } = options;
  if (typeof secret !== 'string' || secret === '' || secret.length > SECRET_MAX_CHARS)
    throw new TypeError('secret is missing. Set it to the secret key of your site.');
  if (!(timeoutMs > 0 && timeoutMs <= TIMEOUT_MAX_MS)) throw new TypeError('timeoutMs must be a positive number.');
  if (!Number.isInteger(retries) || retries < 0 || retries > RETRIES_MAX)
    throw new TypeError(`retries must be a whole number from 0 to ${RETRIES_MAX}.`);
  if (failMode !== 'open' && failMode !== 'closed') throw new TypeError("failMode must be 'open' or 'closed'.");
  const { expectedHostname = [] } = options;
  return {
    secret,
    serviceUrl: options.serviceUrl,
    url: endpointOf(options.serviceUrl, allowHttp),
    timeoutMs,
    retries,
    failMode,
    expectedAction: options.expectedAction,
    expectedHostnames: (typeof expectedHostname === 'string' ? [expectedHostname] : expectedHostname).map((name) =>
      name.toLowerCase(),
    ),
    minimumLevel: options.minimumLevel,
    throwUnavailable: options.throwUnavailable ?? false,
    allowHttp,
    onResult: options.onResult,
    // Called as a function: some runtimes refuse a `fetch` that is called as a method.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  };
}

function endpointOf(serviceUrl: string, allowHttp: boolean): string {
  let url: URL;
  try {
    url = new URL(serviceUrl);
  } catch {
    throw new TypeError('serviceUrl must be an address such as https://gatehouse.example.com.');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TypeError('serviceUrl must begin with https://.');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError('serviceUrl must have no user name, password, query or fragment.');
  if (url.protocol === 'http:' && !allowHttp && !LOOPBACK.test(url.hostname))
    throw new TypeError(
      'serviceUrl must begin with https://, because the secret is sent there. allowHttp permits http.',
    );
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}/siteverify`;
}
