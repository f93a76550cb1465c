/**
 * A field that visitors never see and form-filling scripts fill in. Its `form` attribute names no form, so the site's
 * own submission does not carry it. Its content is sent with the solution.
 */
import type { ChallengeResponse } from '../../contract/captcha/challenge-api.ts';

const CONTENT_MAX_CHARS = 1024;

/** Returns a reader of the field. The first read puts the field into `parent`. */
export function createHoneypot(parent: Element): (field: NonNullable<ChallengeResponse['honeypot']>) => string {
  let input: HTMLInputElement | undefined;
  return ({ name, question }) => {
    if (input === undefined) {
      input = document.createElement('input');
      input.type = 'text';
      input.tabIndex = -1;
      input.autocomplete = 'off';
      input.setAttribute('form', 'gatehouse-none');
      input.setAttribute('aria-hidden', 'true');
      // Outside the screen instead of `display: none`, which form-filling scripts look for.
      Object.assign(input.style, { position: 'absolute', insetInlineStart: '-9999px', width: '1px', height: '1px' });
      parent.append(input);
    }
    input.name = name;
    input.placeholder = question;
    return input.value.slice(0, CONTENT_MAX_CHARS);
  };
}
