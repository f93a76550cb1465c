/**
 * Where the running script came from. Other scripts and the API are beside it, so a page needs one script tag and no
 * other configuration.
 */

/** Folder of a compatibility script below the other files, filled in by `scripts/build-client.ts`. */
declare const GATEHOUSE_COMPAT_FOLDER: string | undefined;
/** Whether the script is built as an ES module, filled in as well. */
declare const GATEHOUSE_IS_MODULE: boolean | undefined;

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
  const { src, nonce } = runningScript();
  if (src === '') return { base: '/__protect', apiBase: '/__protect', params: new URLSearchParams(), nonce };
  const url = new URL(src);
  let base = url.origin + url.pathname.replace(/\/[^/]*$/, '');
  if (typeof GATEHOUSE_COMPAT_FOLDER !== 'undefined') base = base.slice(0, -1 - GATEHOUSE_COMPAT_FOLDER.length);
  return {
    base,
    apiBase: /\/(?:__protect|captcha\/v1)$/.test(base) ? base : `${base}/captcha/v1`,
    params: url.searchParams,
    nonce,
  };
}

function runningScript(): { src: string; nonce: string } {
  // A module may be imported by a script of the page, so that no tag has its address. Any tag has the page's nonce.
  if (typeof GATEHOUSE_IS_MODULE !== 'undefined' && GATEHOUSE_IS_MODULE) {
    return { src: import.meta.url, nonce: document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '' };
  }
  // Some pages load a compatibility script as a module, which is not the current script while it runs. The original's
  // script may be on the page too, and is no module.
  const script =
    typeof document === 'undefined'
      ? null
      : typeof GATEHOUSE_COMPAT_FOLDER === 'undefined'
        ? (document.currentScript as HTMLScriptElement | null)
        : ((document.currentScript ??
            document.querySelector(
              `script[type=module][src*="/${GATEHOUSE_COMPAT_FOLDER}/"]`,
            )) as HTMLScriptElement | null);
  return { src: script?.src ?? '', nonce: script !== null && script.src !== '' ? script.nonce : '' };
}
