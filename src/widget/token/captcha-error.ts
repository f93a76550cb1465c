/**
 * Everything that can fail between a click and a token, as one tagged error. The code is stable and reaches the page's
 * error callback. The visitor reads a text from the language files instead.
 */

/**
 * `network`: no response. `server`: 5xx. `refused`: the service refused the call, `detail` is its error key.
 * `failed`: the solution was wrong. `expired`: too late. `unsupported`: this browser cannot solve the task.
 * `cancelled`: reset, closed or removed meanwhile.
 */
export type CaptchaErrorCode = 'network' | 'server' | 'refused' | 'failed' | 'expired' | 'unsupported' | 'cancelled';

/** States in which a widget, a dialog or a challenge page shows an error, each with a text of the same name. */
export type ErrorState = 'offline' | 'expired' | 'failed' | 'unavailable';

/** Details of errors that only the site's developer can repair, so that trying again does not help. */
const setupDetails = /^(?:API\.(?:INVALID_SITE_KEY|SITE_KEY_NOT_REGISTERED|UNAUTHORIZED_ORIGIN_URL)|opaque-origin)$/;

export class CaptchaError extends Error {
  readonly code: CaptchaErrorCode;
  readonly detail: string;
  constructor(code: CaptchaErrorCode, detail = '') {
    super(detail === '' ? code : `${code}: ${detail}`);
    this.name = 'CaptchaError';
    this.code = code;
    this.detail = detail;
  }

  get state(): ErrorState {
    const { code } = this;
    if (setupDetails.test(this.detail)) return 'unavailable';
    return code === 'network' || code === 'server' ? 'offline' : code === 'expired' ? code : 'failed';
  }
}

/** By name: each script of a page has a class of its own. */
export function asCaptchaError(error: unknown): CaptchaError {
  return error instanceof Error && error.name === 'CaptchaError'
    ? (error as CaptchaError)
    : new CaptchaError('network', String(error));
}

const told = new Set<string>();

/**
 * Tells the page's developer, in the console and once, what to change in the setup of a widget. Visitors cannot change it
 * and read only that verification is not available. `detail`: of the error. Does nothing for an error with another cause.
 */
export function explainSetup(detail: string, siteKey: string): void {
  const mistake = mistakeBehind(detail, siteKey);
  if (mistake === undefined || told.has(mistake)) return;
  told.add(mistake);
  console.error(`Gatehouse: ${mistake}`);
}

function mistakeBehind(detail: string, siteKey: string): string | undefined {
  if (detail === 'opaque-origin')
    return 'this page has no origin, so no site can allow it. Add allow-same-origin to the sandbox of its frame, or serve the file over HTTP.';
  if (detail === 'API.UNAUTHORIZED_ORIGIN_URL')
    return `the site "${siteKey}" does not allow ${location.hostname}. Add this host to the domains of the site.`;
  if (/SITE_KEY/.test(detail))
    return `"${siteKey}" is not the key of an active site. Set sitekey to the siteKey that /sites/list shows.`;
  return undefined;
}
