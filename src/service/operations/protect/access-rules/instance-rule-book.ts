/**
 * What every access rule operation starts with: the account's active instance, chosen by `siteKey` if the caller names
 * one, and the rule book of that instance.
 */
import * as z from 'zod/mini';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import type { RuleBookRpc, TooManyRules } from '../../../../store/rule-book/rpc.ts';
import { OperationError } from '../../operation-error.ts';
import { chosenInstance } from '../chosen-instance.ts';
import type { ChoosingContext } from '../chosen-instance.ts';

export const siteKey = z.optional(z.string().check(z.minLength(1), z.maxLength(256)));

export interface InstanceRuleBook {
  instance: StoredInstance;
  book: RuleBookRpc;
}

export async function instanceRuleBook(
  context: ChoosingContext,
  wantedSiteKey: string | undefined,
): Promise<InstanceRuleBook> {
  const instance = await chosenInstance(context, wantedSiteKey);
  return { instance, book: ruleBook(context.store, instance.id) };
}

export function tooManyRules({ limit, type }: TooManyRules): OperationError {
  return new OperationError('API.TOO_MANY_ITEMS', `An instance holds at most ${limit} ${type ?? 'access'} rules`);
}
