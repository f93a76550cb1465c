/**
 * Everything that can go wrong between a click and a token, as one tagged error. The code is stable
 * and reaches the page's error callback; what the visitor reads comes from the message table.
 */

/**
 * `network`: no answer. `server`: 5xx. `refused`: the service said no, `detail` is its error key.
 * `failed`: the solution was wrong. `expired`: too late. `unsupported`: this browser cannot.
 * `cancelled`: reset, closed or removed meanwhile.
 */
export type CaptchaErrorCode = 'network' | 'server' | 'refused' | 'failed' | 'expired' | 'unsupported' | 'cancelled';

export class CaptchaError extends Error {
  readonly code: CaptchaErrorCode;
  readonly detail: string;
  constructor(code: CaptchaErrorCode, detail = '') {
    super(detail === '' ? code : `${code}: ${detail}`);
    this.name = 'CaptchaError';
    this.code = code;
    this.detail = detail;
  }
}

export function asCaptchaError(error: unknown): CaptchaError {
  return error instanceof CaptchaError ? error : new CaptchaError('network', String(error));
}
