/** A policy's action as a few words: `block`, `challenge 2`, `redirect /maintenance 302`, `limit logins`. */
import { type PolicyAction, policyAction } from '../../contract/management/policy-set/policy.ts';
import { CommandError } from '../command-line.ts';

const FORMS = 'allow, challenge [LEVEL], block, redirect LOCATION [STATUS], skipSession, limit NAME, origin NAME';

/** @throws CommandError */
export function readAction(text: string): PolicyAction {
  const [action, first, second, ...more] = text.trim().split(/\s+/);
  const fields =
    action === 'challenge'
      ? { level: numberOf(first) }
      : action === 'redirect'
        ? { location: first, status: numberOf(second) }
        : action === 'limit'
          ? { limit: first }
          : action === 'origin'
            ? { origin: first }
            : {};
  const used = Object.keys(fields).length;
  const given = [first, second, ...more].filter((word) => word !== undefined).length;
  const known = Object.entries({ action, ...fields }).filter(([, value]) => value !== undefined);
  const read = policyAction.safeParse(Object.fromEntries(known));
  if (read.success && given <= used) return read.data;
  throw new CommandError(`"${text}" is no action. Use one of: ${FORMS}`);
}

function numberOf(word: string | undefined): number | undefined {
  return word === undefined ? undefined : Number(word);
}

export function printAction(then: PolicyAction): string {
  if (then.action === 'challenge') return then.level === undefined ? 'challenge' : `challenge ${then.level}`;
  if (then.action === 'redirect') return `redirect ${then.location} ${then.status}`;
  if (then.action === 'origin') return `origin ${then.origin}`;
  return then.action === 'limit' ? `limit ${then.limit}` : then.action;
}
