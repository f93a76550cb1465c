/**
 * English, the language of last resort, and the source the others are translated from.
 */
import type { PageMessages } from './messages.ts';

export const english: PageMessages = {
  challengeTitle: 'One moment, please',
  challengeText: 'This site checks that visitors are people.',
  working: 'Checking…',
  done: 'Done. Taking you on…',
  sent: 'This form has already been sent.',
  failed: 'The check did not succeed.',
  expired: 'The check took too long.',
  offline: 'The check could not be reached.',
  cookiesTitle: 'Cookies are switched off',
  cookies: 'Allow cookies for this site, then try again.',
  retry: 'Try again',
  noScriptLink: 'Continue without scripts',
  blockedTitle: 'Access denied',
  blockedText: 'If you think that is a mistake, tell the owner of the site the reference below.',
  sendAgainTitle: 'Please send it again',
  tooLargeTitle: 'Too large to keep',
  notDelivered: 'What you sent was not delivered. Go back and send it once more.',
  originTitle: 'The site does not answer',
  originText: 'If you sent a form, it may not have arrived.',
  unavailableTitle: 'Not available at the moment',
  unavailableText: 'Please try again shortly.',
  support: 'Contact support',
  reference: 'Reference',
};
