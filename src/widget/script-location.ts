/**
 * Where this script came from. Sister files (worker, languages, picture tasks) and the API live
 * beside it, so one script tag is all the configuration a page needs.
 */

export interface ScriptLocation {
  /** Folder of the running script, no trailing slash. */
  base: string;
  /** Parameters of the script's own address (`render=explicit`, `onload=…`). */
  params: URLSearchParams;
  /** The page's CSP nonce, handed on to scripts we add. */
  nonce: string;
}

/** Must run while the script itself is running: `currentScript` is gone afterwards. Safe without a DOM. */
export function scriptLocation(): ScriptLocation {
  const script = typeof document === 'undefined' ? null : document.currentScript;
  if (!(script instanceof HTMLScriptElement) || script.src === '')
    return { base: '/__protect', params: new URLSearchParams(), nonce: '' };
  const url = new URL(script.src);
  return {
    base: url.origin + url.pathname.replace(/\/[^/]*$/, ''),
    params: url.searchParams,
    nonce: script.nonce,
  };
}
