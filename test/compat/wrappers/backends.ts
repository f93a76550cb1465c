/**
 * Backends with libraries of strangers from npm, unchanged: each verifies a token where the original's service would.
 * Two of them have no setting for the address, so their calls to the original's host go to the service instead.
 */
import http from 'node:http';
import https from 'node:https';
import turnstile from 'cf-turnstile';
import hcaptcha from 'hcaptcha';

export interface Verified {
  success: boolean;
  hostname?: string | undefined;
  action?: string | undefined;
  cdata?: string | undefined;
  score?: number | undefined;
}
export type Backend = (serviceUrl: string, secret: string, response: string) => Promise<Verified>;

/** Where the host of an original has its paths at the service. */
const folders: Record<string, string> = { 'hcaptcha.com': '/hcaptcha', 'www.google.com': '' };

/** Runs `use` while calls to the originals' hosts go to the service. */
async function redirected<Value>(serviceUrl: string, use: () => Promise<Value>): Promise<Value> {
  const original = https.request;
  https.request = ((options: https.RequestOptions, listener?: (response: http.IncomingMessage) => void) => {
    const { host, path, method, headers = {} } = options;
    const folder = folders[host ?? ''];
    if (folder === undefined) throw new Error(`Unexpected call to ${host}`);
    return http.request(`${serviceUrl}${folder}${path}`, { method, headers }, listener);
  }) as typeof https.request;
  try {
    return await use();
  } finally {
    https.request = original;
  }
}

export const withCfTurnstile: Backend = (serviceUrl, secret, response) =>
  turnstile(secret, { apiUrl: `${serviceUrl}/turnstile/v0/siteverify` })(response);

export const withHcaptcha: Backend = (serviceUrl, secret, response) =>
  redirected(serviceUrl, () => hcaptcha.verify(secret, response) as Promise<Verified>);

export const withExpressRecaptcha: Backend = (serviceUrl, secret, response) =>
  redirected(serviceUrl, async () => {
    // It copies the functions of `https` when it is loaded.
    const { RecaptchaV3 } = await import('express-recaptcha');
    const request = { body: { 'g-recaptcha-response': response } };
    return new Promise((resolve) => {
      new RecaptchaV3('site', secret).verify(request as never, (error, data) =>
        resolve(data == null ? { success: false } : { success: error === null, ...data }),
      );
    });
  });
