/** What each policy of a set answers to one request, and what becomes of the request, in words. */
import type { ResponseOf } from '../../api/service-api.ts';
import { actionText, type Policy } from './policy.ts';

export type Trial = ResponseOf<'/protect/policies/test'>;

export interface TrialAnswer {
  place: number;
  policy: Policy;
  applies: 'true' | 'false' | 'unknown';
  /** What this one does to the request. */
  effect: string;
}

const ENDS: readonly string[] = ['allow', 'challenge', 'block', 'redirect'];

export function answersOf(policies: readonly Policy[], { policies: applied }: Trial): TrialAnswer[] {
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
