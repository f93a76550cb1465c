/**
 * English, the language of last resort, and the source the others are translated from.
 */
import type { PageMessages } from './messages.ts';

export const english: PageMessages = {
  challengeTitle: 'One moment, please',
  challengeText: 'This site checks that visitors are people. It takes a second or two and asks nothing of you.',
  working: 'Checking…',
  done: 'Done. Taking you on…',
  sending: 'Done. Sending what you entered…',
  sent: 'This form has already been sent.',
  failed: 'The check did not succeed.',
  expired: 'The check took too long.',
  offline: 'The check could not be reached. Are you online?',
  cookies:
    'Your browser keeps no cookie, so this site cannot remember that you passed. Allow cookies for it, then try again.',
  retry: 'Try again',
  noScript: 'Your browser runs no scripts. You can pass without, after a short wait.',
  noScriptLink: 'Continue without scripts',
  blockedTitle: 'Access denied',
  blockedText:
    'This request was refused. If you think that is a mistake, tell the owner of the site the reference below.',
  sendAgainTitle: 'Please send it again',
  sendAgainText:
    'What you sent came from another site or could not be kept, and was not delivered. Go back and send it once more.',
  tooLargeTitle: 'Too large to keep',
  tooLargeText:
    'What you sent is too large to be kept during the check, and was not delivered. Go back and send it once more.',
  originTitle: 'The site does not answer',
  originText: 'The site could not be reached. If you sent a form, it may not have arrived. Please try again later.',
  unavailableTitle: 'Not available at the moment',
  unavailableText: 'This cannot be checked at the moment. Please try again shortly.',
  cookiesTitle: 'Cookies are switched off',
  support: 'Contact support',
  reference: 'Reference',
};
