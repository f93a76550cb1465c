/**
 * `window.procaptcha` as an ES module, for pages that import its functions. It has the address of the classic script:
 * see `src/service/captcha/widget-assets.ts`.
 */
import { procaptcha } from './procaptcha.ts';

export const { ready, render, execute, start, reset, remove, getResponse } = procaptcha;
