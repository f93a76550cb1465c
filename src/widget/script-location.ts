/**
 * Where this script came from. Sister files (worker, languages, picture tasks) and the API live
 * beside it, so one script tag is all the configuration a page needs.
 */

export interface ScriptLocation {
  /** Folder of the running script, no trailing slash; the sister files lie there. */
  base: string;
  /** Where the API hangs: the edge has both in one folder, the service has the API below `/captcha/v1`. */
  apiBase: string;
  /** Parameters of the script's own address (`render=explicit`, `onload=…`). */
  params: URLSearchParams;
  /** The page's CSP nonce, handed on to scripts we add. */
  nonce: string;
}

/** Must run while the script itself is running: `currentScript` is gone afterwards. Safe without a DOM. */
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
