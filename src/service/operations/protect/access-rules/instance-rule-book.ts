/**
 * What every access rule operation starts with: the account's active instance, chosen by `siteKey` if the caller names
 * one, and the rule book of that instance.
 */
import * as z from 'zod/mini';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import type { RefusedWrite, RuleBookRpc } from '../../../../store/rule-book/rpc.ts';
import type { RuleKey } from '../../../../store/rule-book/rule-row.ts';
import { OperationError } from '../../operation-error.ts';
import { staleWrite } from '../../stale-write.ts';
import { type ChoosingContext, chosenInstance } from '../chosen-instance.ts';

export const siteKey = z.optional(z.string().check(z.minLength(1), z.maxLength(256)));

export interface InstanceRuleBook {
  instance: StoredInstance;
  book: RuleBookRpc;
}

export async function instanceRuleBook(
  context: ChoosingContext,
  wantedSiteKey: string | undefined,
  ofSeveral?: 'oldest' | 'none',
): Promise<InstanceRuleBook> {
  const instance = await chosenInstance(context, wantedSiteKey, ofSeveral);
  return { instance, book: ruleBook(context.store, instance.id) };
}

/**
 * The book that create and delete write to. They have clients that know no `siteKey`, so without one they mean the
 * oldest active instance. A call with `ifVersion` is about the rules of one instance, and must say of which.
 */
export function writtenRuleBook(
  context: ChoosingContext,
  { siteKey: wantedSiteKey, ifVersion }: { siteKey?: string | undefined; ifVersion?: number | undefined },
): Promise<InstanceRuleBook> {
  return instanceRuleBook(context, wantedSiteKey, ifVersion === undefined ? 'oldest' : 'none');
}

/** Characters of a rule's value in a message. */
const NAMED_VALUE_CHARS = 80;

/** `rules`: what the batch asked for, to name the rule that needs most by its place. */
export function refusedWrite(refusal: RefusedWrite, rules: readonly RuleKey[] = []): OperationError {
  if (refusal.reason === 'stale') return staleWrite('The set of rules', refusal.expected, refusal.current);
  if (refusal.reason === 'too-many-rules') {
    const { limit, type } = refusal;
    return new OperationError('API.TOO_MANY_ITEMS', `An instance holds at most ${limit} ${type ?? 'access'} rules`);
  }
  const { measure, limit, needed, largest } = refusal;
  const index = rules.findIndex(({ type, value }) => type === 'userAgent' && value === largest);
  const named = largest.length > NAMED_VALUE_CHARS ? `${largest.slice(0, NAMED_VALUE_CHARS)}…` : largest;
  const unit = measure === 'bytes' ? 'bytes of text' : 'states of their automaton';
  return new OperationError(
    'API.TOO_MANY_ITEMS',
    `The userAgent rules of an instance have at most ${limit} ${unit}, and with this batch ${needed}. ` +
      `Shorten rules that repeat themselves or each other, first userAgent:${named}`,
    index < 0
      ? undefined
      : [{ index, path: `rules[${index}].value`, message: 'needs most of the rules of this batch' }],
  );
}
