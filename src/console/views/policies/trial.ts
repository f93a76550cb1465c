/** A request that is pasted, as the service tests it, and what each policy answers to it. */
import { failed, ok, type Result } from '../../../result.ts';
import { readPasted, type GivenRequest } from '../../../policies/pasted/pasted-request.ts';
import type { RequestOf, ResponseOf } from '../../api/service-api.ts';
import { actionText, type TextPolicy } from './policy.ts';

/** Facts that no request carries in its text. Empty: not given. */
export interface TrialVisitor {
  ip: string;
  country: string;
  asn: string;
  ja4: string;
  sessionStatus: string;
  riskScore: string;
  ipCategories: readonly string[];
}

export const noFacts: TrialVisitor = {
  ip: '',
  country: '',
  asn: '',
  ja4: '',
  sessionStatus: '',
  riskScore: '',
  ipCategories: [],
};

export type TrialRequest = Pick<RequestOf<'/protect/policies/test'>, 'request' | 'requestId'>;

/** A pasted request and what somebody says about its visitor, as the service tests policies on it. */
export function trialRequest(pasted: string, facts: TrialVisitor): Result<TrialRequest, string> {
  const read = readPasted(pasted);
  if (!read.ok) return read;
  const given: GivenRequest = read.value;
  const known = factsOf(facts);
  if (!known.ok) return known;
  if ('requestId' in given) {
    if (Object.keys(known.value).length === 0) return ok(given);
    return failed('The log knows the visitor of a logged request. Leave the facts about the visitor empty.');
  }
  // The service checks what JSON says, and names what is wrong.
  return ok({ request: { ...given.request, ...known.value } as NonNullable<TrialRequest['request']> });
}

function factsOf({ riskScore, ipCategories, country, ...texts }: TrialVisitor): Result<object, string> {
  const words = Object.entries(texts).map(([name, text]) => [name, text.trim()] as const);
  const score = riskScore.trim() === '' ? undefined : Number(riskScore);
  if (Number.isNaN(score)) return failed('The risk score must be a number from 0 to 1.');
  return ok({
    ...Object.fromEntries(words.filter(([, text]) => text !== '')),
    ...(country.trim() === '' ? {} : { country: country.trim().toUpperCase() }),
    ...(score === undefined ? {} : { riskScore: score }),
    ...(ipCategories.length === 0 ? {} : { ipCategories }),
  });
}

export type Trial = ResponseOf<'/protect/policies/test'>;

export interface TrialAnswer {
  place: number;
  policy: TextPolicy;
  applies: 'true' | 'false' | 'unknown';
  /** What this one does to the request. */
  effect: string;
}

const ENDS: readonly string[] = ['allow', 'challenge', 'block', 'redirect'];

/** What each policy of a set answers to one request, and what becomes of the request, in words. */
export function answersOf(policies: readonly TextPolicy[], { policies: applied }: Trial): TrialAnswer[] {
  const answers = new Map(applied.map(({ name, applies }) => [name, applies]));
  let isOver = false;
  let isSure = true;
  return policies.map((policy, at) => {
    const applies = ({ yes: 'true', unknown: 'unknown', none: 'false' } as const)[answers.get(policy.name) ?? 'none'];
    const answer = { place: at + 1, policy, applies };
    if (applies === 'false') return { ...answer, effect: '' };
    if (policy.mode === 'monitor') return { ...answer, effect: 'is recorded' };
    if (isOver) return { ...answer, effect: 'is not reached' };
    const isEnd = ENDS.includes(policy.then.action);
    const action = actionText(policy.then);
    if (applies === 'unknown') {
      isSure &&= !isEnd;
      return { ...answer, effect: `may ${isEnd ? 'decide' : 'add'}: ${action}` };
    }
    isOver = isEnd;
    return { ...answer, effect: `${isEnd ? 'decides' : 'adds'}${isSure ? '' : ', unless one above does'}: ${action}` };
  });
}

/** What the policies say together. */
export function outcomeText({ result: { verdict, redirect, skipSession, origin, limits }, logged }: Trial): string {
  const said =
    verdict !== null
      ? `${verdict.policy} says ${verdict.action}${verdict.action === 'challenge' && verdict.level > 0 ? ` of level ${verdict.level}` : ''}`
      : redirect !== null
        ? `${redirect.policy} redirects to ${redirect.location} with ${redirect.status}, if nothing else challenges or blocks`
        : 'No policy decides';
  const also = [
    skipSession && 'no session is asked for',
    origin !== null && `it goes to the origin ${origin}`,
    limits.length > 0 && `it counts for ${limits.join(', ')}`,
  ];
  const known = logged === null ? '' : ` It was ${logged.before}, and would be ${logged.after.join(' or ')}.`;
  return `${[said, ...also.filter((one) => one !== false)].join('; ')}.${known}`;
}
