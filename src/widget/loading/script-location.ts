/**
 * Where the running script came from. Other scripts and the API are beside it, so a page needs one script tag and no
 * other configuration.
 */

export interface ScriptLocation {
  /** Folder of the running script, without a trailing slash; the other scripts are in it. */
  base: string;
  /** Base address of the API: the edge serves both from one folder, the service has the API below `/captcha/v1`. */
  apiBase: string;
  /** Query parameters of the script's own address (`render=explicit`, `onload=…`). */
  params: URLSearchParams;
  /** The page's CSP nonce, for the scripts that are loaded later. */
  nonce: string;
}

/** Call it while the script is first run: `currentScript` is `null` afterwards. Works without a DOM. */
export function scriptLocation(): ScriptLocation {
  const script = typeof document === 'undefined' ? null : (document.currentScript as HTMLScriptElement | null);
  if (script === null || script.src === '')
    return { base: '/__protect', apiBase: '/__protect', params: new URLSearchParams(), nonce: '' };
  const url = new URL(script.src);
  const base = url.origin + url.pathname.replace(/\/[^/]*$/, '');
  return {
    base,
    apiBase: /\/(?:__protect|captcha\/v1)$/.test(base) ? base : `${base}/captcha/v1`,
    params: url.searchParams,
    nonce: script.nonce,
  };
}
