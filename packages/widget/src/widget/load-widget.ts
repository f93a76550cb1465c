/**
 * Loads the widget's script from the service, once per page. It is not part of the bundle, so that a page always runs the
 * widget that its service understands, and a fix of the widget needs no build of yours.
 */

export interface LoadOptions {
  /** The service's address, such as `https://gatehouse.example.com`, or `/__protect` behind the gate. */
  serviceUrl: string;
  /** The page's CSP nonce. */
  nonce?: string | undefined;
}

export const ELEMENT_NAME = 'gatehouse-widget';
/** For pages whose CSP demands Trusted Types. The script itself has the policy `gatehouse`. */
const POLICY_NAME = 'gatehouse-loader';
/** A script that has not come by then does not come. The next call tries again. */
const TIMEOUT_MS = 20_000;

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

let pending: { url: string; loaded: Promise<void> } | undefined;
let policy: ReturnType<TrustedTypes['createPolicy']> | null | undefined;

/** Where a service has the script. */
export function scriptUrl(serviceUrl: string): string {
  return `${serviceUrl.replace(/\/+$/, '')}/widget.js`;
}

/** Where a service has the challenge API, as its script computes it. */
export function apiUrl(serviceUrl: string): string {
  const base = serviceUrl.replace(/\/+$/, '');
  return /\/(?:__protect|captcha\/v1)$/.test(base) ? base : `${base}/captcha/v1`;
}

/**
 * Resolves when `<gatehouse-widget>` is defined, by this or by a script tag of the page. Rejects without a DOM, when the
 * script does not load, and when the page already loads it from another service. A call after a failure tries again.
 */
export function loadWidget({ serviceUrl, nonce }: LoadOptions): Promise<void> {
  if (typeof document === 'undefined') return Promise.reject(new Error('The widget needs a browser.'));
  let url: URL;
  try {
    url = new URL(scriptUrl(serviceUrl), document.baseURI);
  } catch {
    return Promise.reject(new TypeError('serviceUrl must be an address such as https://gatehouse.example.com.'));
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return Promise.reject(new TypeError('serviceUrl must begin with https://.'));
  if (customElements.get(ELEMENT_NAME) !== undefined && pending === undefined) return Promise.resolve();
  if (pending !== undefined && pending.url !== url.href)
    return Promise.reject(new Error(`This page already uses the widget of ${pending.url}. Use one service on a page.`));
  if (pending === undefined) {
    const mine = { url: url.href, loaded: addScript(url.href, nonce) };
    pending = mine;
    mine.loaded.catch(() => {
      if (pending === mine) pending = undefined;
    });
  }
  return pending.loaded;
}

function addScript(url: string, nonce: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    const fail = (): void => {
      clearTimeout(timer);
      script.remove();
      reject(new Error(`The widget did not load from ${url}.`));
    };
    const timer = setTimeout(fail, TIMEOUT_MS);
    script.async = true;
    if (nonce !== undefined) script.nonce = nonce;
    script.addEventListener('error', fail);
    script.addEventListener('load', () => {
      // A page of something else at this address runs, or fails, and defines nothing.
      if (customElements.get(ELEMENT_NAME) === undefined) return fail();
      clearTimeout(timer);
      resolve();
    });
    // Places in the page that ask for a widget by their class are left to a script tag of the page.
    script.src = trusted(`${url}?render=explicit`);
    document.head.append(script);
  });
}

function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  if (policy === undefined) {
    try {
      policy = trustedTypes?.createPolicy(POLICY_NAME, { createScriptURL: (text) => text }) ?? null;
    } catch {
      // The page's CSP does not list the policy. Where it enforces Trusted Types, it refuses the script.
      policy = null;
    }
  }
  return policy?.createScriptURL(url) ?? url;
}
