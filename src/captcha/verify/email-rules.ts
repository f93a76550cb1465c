/**
 * A site's rules for email addresses: disposable domains, and rules on the local part. A bare domain has no local part,
 * so only the domain is judged. Pure: the caller counts.
 */
import { disposableEmailBlocklist } from 'disposable-email-domains-js';
import type { SiteSettings } from '../../contract/management/site-settings.ts';
import type { VerifyReason } from '../../contract/captcha/siteverify.ts';
import { compileBlocklist, type EmailBlocklist } from '../../contract/management/email-blocklist.ts';
import { normaliseDomain } from '../../contract/management/site-domain.ts';

const DEFAULT_DOTS_MAX = 3;
/** `name+k3j9x2@gmail.com`: a random tag, as scripts make it. */
const DEFAULT_GMAIL_TAG = /\+[a-z0-9]{6,}$/;
const GMAIL = new Set(['gmail.com', 'googlemail.com']);

/**
 * Mail services that hand out addresses for minutes. The list is updated with the package; names that change
 * faster belong in a site's own `customRegexBlocklist`.
 */
const disposableDomains: ReadonlySet<string> = new Set(disposableEmailBlocklist());

export interface EmailAddress {
  /** Empty for a bare domain. */
  local: string;
  domain: string;
}

/** `null` for text that is neither an address nor a domain. */
export function readEmail(text: string): EmailAddress | null {
  const lower = text.trim().toLowerCase();
  const at = lower.lastIndexOf('@');
  const domain = normaliseDomain(lower.slice(at + 1));
  if (domain === null || !domain.includes('.') || domain.startsWith('*') || domain.startsWith('[')) return null;
  const local = at === -1 ? '' : lower.slice(0, at);
  if (at === 0 || local.length > 64 || /[\s@<>]/.test(local)) return null;
  return { local, domain };
}

/** One spelling per mailbox: Gmail ignores dots and everything from `+` on. */
export function mailboxOf(email: EmailAddress, normaliseGmail: boolean): string {
  if (!normaliseGmail || !GMAIL.has(email.domain)) return `${email.local}@${email.domain}`;
  return `${email.local.replace(/\+.*$/, '').replaceAll('.', '')}@gmail.com`;
}

export function emailRefusal(email: EmailAddress | null, settings: SiteSettings): VerifyReason | null {
  const rules = settings.spamFilter?.enabled === true ? settings.spamFilter.emailRules : undefined;
  const active = rules?.enabled === true ? rules : undefined;
  if (email === null) {
    // Only a site that has a rule about addresses refuses text that is not an address.
    if (settings.spamEmailDomainCheckEnabled) return 'API.SPAM_EMAIL_DOMAIN';
    return active === undefined ? null : 'API.SPAM_EMAIL_RULE';
  }
  if (settings.spamEmailDomainCheckEnabled && isDisposable(email.domain)) return 'API.SPAM_EMAIL_DOMAIN';
  if (active === undefined) return null;
  const mailbox = mailboxOf(email, active.normaliseGmail);
  const dots = dotsIn(mailbox.slice(0, mailbox.lastIndexOf('@')));
  if (active.maxLocalPartDots !== undefined && dots > active.maxLocalPartDots) return 'API.SPAM_EMAIL_RULE';
  if (active.useDefaultPatterns) {
    if (dotsIn(email.local) > DEFAULT_DOTS_MAX) return 'API.SPAM_EMAIL_RULE';
    if (GMAIL.has(email.domain) && DEFAULT_GMAIL_TAG.test(email.local)) return 'API.SPAM_EMAIL_RULE';
  }
  const whole = email.local === '' ? email.domain : `${email.local}@${email.domain}`;
  return blocklistOf(active.customRegexBlocklist)(whole) ? 'API.SPAM_EMAIL_RULE' : null;
}

/** Keyed by the list: a site's settings stay one object for as long as they are remembered. */
const compiled = new WeakMap<readonly string[], EmailBlocklist>();

function blocklistOf(sources: readonly string[]): EmailBlocklist {
  const remembered = compiled.get(sources);
  if (remembered !== undefined) return remembered;
  const blocklist = compileBlocklist(sources);
  compiled.set(sources, blocklist);
  return blocklist;
}

function isDisposable(domain: string): boolean {
  const labels = domain.split('.');
  return labels.some((_, index) => disposableDomains.has(labels.slice(index).join('.')));
}

function dotsIn(text: string): number {
  return text.split('.').length - 1;
}
