/**
 * The instance that a call is about: the one of its `siteKey`, or the account's active one. Where the account has
 * several, a read without `siteKey` is about the oldest of them, and its response says so. A write is refused, because
 * it would change the oldest, whichever was meant, unless its operation says that it means the oldest.
 */
import * as z from 'zod/mini';
import { activeInstancesOf, instanceById, type StoredInstance } from '../../../store/d1/instances.ts';
import { ruleBook } from '../../../store/rule-book/client.ts';
import type { RefusedWrite, RuleBookRpc } from '../../../store/rule-book/rpc.ts';
import type { RuleKey } from '../../../store/rule-book/rule-row.ts';
import type { OperationContext } from '../define-operation.ts';
import { NoActiveInstanceError, OperationError } from '../operation-error.ts';
import { staleWrite } from '../stale-write.ts';

/** How many instances a refusal lists. */
const LISTED_MAX = 100;
/** Of the instance that a response is about. */
const SITE_KEY_HEADER = 'X-Protect-Site-Key';

const key = z.string().check(z.minLength(1), z.maxLength(256));
export const instanceId = key;
export const chosenSiteKey = z.optional(key);

type ChoosingContext = Pick<OperationContext<unknown>, 'store' | 'account' | 'access' | 'responseHeaders' | 'changes'>;

/** @throws NoActiveInstanceError */
export async function instanceOfCall(
  { store, account, access, responseHeaders, changes }: ChoosingContext,
  siteKey: string | undefined,
  ofSeveral: 'oldest' | 'none' = access === 'write' ? 'none' : 'oldest',
): Promise<StoredInstance> {
  const found = await activeInstancesOf(store, account.id, { siteKey, limit: ofSeveral === 'none' ? LISTED_MAX : 1 });
  const [instance] = found;
  if (instance === undefined) throw new NoActiveInstanceError();
  if (found.length > 1) {
    const details = found.map(({ globalSiteKey, name, cname }) => ({
      path: 'siteKey',
      message: `${globalSiteKey}: ${name}, ${cname}`,
    }));
    throw new OperationError(
      'API.CONFLICT',
      'The account has several active instances. Send the siteKey of one',
      details,
    );
  }
  answeredBy({ responseHeaders }, instance);
  changes.instance = instance.name;
  return instance;
}

/** Names the instance that the response is about. */
export function answeredBy(
  { responseHeaders }: Pick<ChoosingContext, 'responseHeaders'>,
  { globalSiteKey }: StoredInstance,
): void {
  responseHeaders.set(SITE_KEY_HEADER, globalSiteKey);
}

/** An active instance of the caller's account. An instance of another account does not exist for the caller. */
export async function ownInstance(
  context: Pick<OperationContext<unknown>, 'store' | 'account'>,
  id: string,
): Promise<StoredInstance> {
  const instance = await instanceById(context.store, id);
  if (!instance?.active || instance.accountId !== context.account.id) throw new NoActiveInstanceError();
  return instance;
}

export interface InstanceRuleBook {
  instance: StoredInstance;
  book: RuleBookRpc;
}

export async function instanceRuleBook(
  context: ChoosingContext,
  wantedSiteKey: string | undefined,
  ofSeveral?: 'oldest' | 'none',
): Promise<InstanceRuleBook> {
  const instance = await instanceOfCall(context, wantedSiteKey, ofSeveral);
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
