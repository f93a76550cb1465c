/**
 * The policy step of a verification: what was decided when the challenge was issued, the traffic filter, IP validation,
 * email, in this order. The first refusal counts.
 */
import type { SealedFacts } from '../seal/sealed-facts.ts';
import type { SealedToken } from '../seal/sealed-token.ts';
import { type VerifyReason, verifyReasons } from '../../contract/captcha/siteverify.ts';
import { scoreFlagged } from '../../risk/captcha-score.ts';
import { type AddressTraits, trafficRefusal, trafficUnknown } from '../plan/traffic-filter.ts';
import type { SiteSettings } from '../../contract/management/site-settings.ts';
import type { AddressLookup } from './address-facts.ts';
import { emailRefusal, mailboxOf, readEmail } from './email-rules.ts';
import { validateAddress } from './ip-validation.ts';
import type { PolicyVerdict, VerifyQuestion } from './judge-token.ts';

export interface PolicyPorts {
  /** The operator's dataset, if there is one. */
  lookup: AddressLookup | null;
  /** Keyed hash with the key of the day that the challenge was sealed on. */
  tag(kind: 'ip' | 'city', value: string, token: SealedToken): Promise<string>;
  /** Counts one use of a mailbox; false above the limit. */
  countMailbox(mailbox: string, limit: number): Promise<boolean>;
}

export async function judgePolicy(
  settings: SiteSettings,
  token: SealedToken,
  question: Pick<VerifyQuestion, 'ip' | 'email'>,
  ports: PolicyPorts,
): Promise<PolicyVerdict> {
  const { facts } = token;
  const sealed = sealedRefusal(facts);
  if (sealed !== null) return { refusal: sealed, notEvaluated: [] };
  const notEvaluated: string[] = [];
  const verifying = question.ip === null ? null : (ports.lookup?.(question.ip) ?? null);

  const issuedTraits: AddressTraits = { categories: facts.categories, network: facts.network, abuseScore: null };
  const traits = verifying ?? issuedTraits;
  const traffic = trafficRefusal(settings.trafficFilter, traits);
  if (traffic !== null) return { refusal: traffic, notEvaluated };
  if (trafficUnknown(settings.trafficFilter, traits)) notEvaluated.push('trafficFilter');
  // The site wants the addresses of DNS resolvers to be judged, and no part of this service sees them.
  if (settings.trafficFilter?.skipExtrasOnValidDnsPath === false) notEvaluated.push('skipExtrasOnValidDnsPath');

  const address = validateAddress(settings.ipValidationRules, {
    sameAddress:
      question.ip === null || facts.ip === null ? null : (await ports.tag('ip', question.ip, token)) === facts.ip,
    sameCity:
      verifying?.city == null || facts.city === null
        ? null
        : (await ports.tag('city', verifying.city, token)) === facts.city,
    issued: facts,
    verifying,
  });
  notEvaluated.push(...address.unknown.map((name) => `ipValidationRules.actions.${name}`));
  if (address.action === 'reject') return { refusal: 'API.FAILED_IP_VALIDATION', notEvaluated };
  if (address.action === 'not-evaluated') notEvaluated.push('ipValidationRules');
  const flagged = address.action === 'flag' ? flagOf(facts) : null;
  // The raised score counts like one that was raised before.
  if (flagged && flagged.flag.facts.score >= (settings.autoBanScoreThreshold ?? Infinity)) {
    return { refusal: 'API.BOT_SCORE_ABOVE_THRESHOLD', notEvaluated, ...flagged };
  }
  const email = await judgeEmail(settings, question.email, ports);
  return { refusal: email.refusal, notEvaluated: [...notEvaluated, ...email.notEvaluated], ...flagged };
}

function flagOf(facts: SealedFacts): Required<Pick<PolicyVerdict, 'flag'>> {
  return { flag: { reason: 'API.FLAGGED_IP_VALIDATION', facts: { ...facts, ...scoreFlagged(facts) } } };
}

type EmailVerdict = Pick<PolicyVerdict, 'refusal' | 'notEvaluated'>;
const judged = (refusal: VerifyReason | null, ...notEvaluated: string[]): EmailVerdict => ({ refusal, notEvaluated });

async function judgeEmail(
  settings: SiteSettings,
  given: string | null,
  ports: Pick<PolicyPorts, 'countMailbox'>,
): Promise<EmailVerdict> {
  if (given === null) return judged(null);
  const email = readEmail(given);
  const refusal = emailRefusal(email, settings);
  if (refusal !== null) return judged(refusal);
  const rules = settings.spamFilter?.enabled === true ? settings.spamFilter.emailRules : undefined;
  const limit = rules?.enabled === true ? rules.maxEmailSubmissionCount : undefined;
  if (limit === undefined || email === null || email.local === '') return judged(null);
  if (!settings.storeMetadata) return judged(null, 'maxEmailSubmissionCount');
  const allowed = await ports.countMailbox(mailboxOf(email, rules?.normaliseGmail === true), limit);
  return judged(allowed ? null : 'API.SPAM_EMAIL_COUNT_EXCEEDED');
}

/** The refusal that the challenge was sealed with. */
function sealedRefusal({ refusal }: SealedFacts): VerifyReason | null {
  if (refusal === null) return null;
  // A key of another release is still a refusal.
  return isVerifyReason(refusal) ? refusal : 'API.USER_NOT_VERIFIED';
}

function isVerifyReason(text: string): text is VerifyReason {
  return Object.hasOwn(verifyReasons, text);
}
