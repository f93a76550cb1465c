/**
 * What the widget says. English is built in; other languages come from the `languages` script, which
 * is loaded only when the page or the visitor asks for one of them.
 */

export interface WidgetMessages {
  /** Label of the box before anything happened. */
  prompt: string;
  working: string;
  verified: string;
  /** A refused or wrong solution. */
  failed: string;
  expired: string;
  /** No answer from the service. */
  offline: string;
  /** A picture task waits below the box. */
  task: string;
  retry: string;
  close: string;
}
export type LanguageTable = Record<string, WidgetMessages>;

export const english: WidgetMessages = {
  prompt: 'I am human',
  working: 'Verifying…',
  verified: 'Verified',
  failed: 'Verification failed. Select to try again.',
  expired: 'Verification expired. Select to verify again.',
  offline: 'The verification service cannot be reached. Select to try again.',
  task: 'Please solve the task below.',
  retry: 'Try again',
  close: 'Close',
};

const RIGHT_TO_LEFT = /^(?:ar|fa|he|ur|ps|ckb|yi)\b/;

export function textDirection(language: string): 'rtl' | 'ltr' {
  return RIGHT_TO_LEFT.test(language) ? 'rtl' : 'ltr';
}
