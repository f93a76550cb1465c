/**
 * A field that people never see and form-filling scripts fill in. It belongs to no form (`form` names
 * none), so the site's own submission does not carry it; what stands in it goes in with the solution.
 */
import type { ChallengeAnswer } from '../../contract/captcha/challenge-api.ts';

const ANSWER_MAX_CHARS = 1024;

/** Answers how to read the field, which is put into `parent` when a challenge first asks for it. */
export function createHoneypot(parent: Element): (field: NonNullable<ChallengeAnswer['honeypot']>) => string {
  let input: HTMLInputElement | undefined;
  return ({ name, question }) => {
    if (input === undefined) {
      input = document.createElement('input');
      input.type = 'text';
      input.tabIndex = -1;
      input.autocomplete = 'off';
      input.setAttribute('form', 'gatehouse-none');
      input.setAttribute('aria-hidden', 'true');
      // Not `display: none`, which scripts look for; out of sight by geometry.
      Object.assign(input.style, { position: 'absolute', insetInlineStart: '-9999px', width: '1px', height: '1px' });
      parent.append(input);
    }
    input.name = name;
    input.placeholder = question;
    return input.value.slice(0, ANSWER_MAX_CHARS);
  };
}
