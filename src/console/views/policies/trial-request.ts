/** A pasted request and what somebody says about its visitor, as the service tests policies on it. */
import { failed, ok, type Result } from '../../../result.ts';
import { type GivenRequest, readPasted } from '../../../policies/pasted/pasted-request.ts';
import type { RequestOf } from '../../api/service-api.ts';

/** Facts that no request carries in its text. Empty: not given. */
export interface VisitorFacts {
  ip: string;
  country: string;
  asn: string;
  ja4: string;
  sessionStatus: string;
  riskScore: string;
  ipCategories: readonly string[];
}

export const noFacts: VisitorFacts = {
  ip: '',
  country: '',
  asn: '',
  ja4: '',
  sessionStatus: '',
  riskScore: '',
  ipCategories: [],
};

export type TrialRequest = Pick<RequestOf<'/protect/policies/test'>, 'request' | 'requestId'>;

export function trialRequest(pasted: string, facts: VisitorFacts): Result<TrialRequest, string> {
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

function factsOf({ riskScore, ipCategories, country, ...texts }: VisitorFacts): Result<object, string> {
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
