/** What changed of policies, limits and whatever else a set has, as the lines that were there and the lines that are. */
import { linesOf } from '../access/audit-words.ts';
import { printExpression } from '../../../policies/text/print.ts';
import type { Expression } from '../../../policies/expression.ts';
import type { ResponseOf } from '../../api/service-api.ts';

export interface ShownDifference {
  change: 'added' | 'removed' | 'changed' | 'moved';
  name: string;
  before: object | null;
  after: object | null;
  placeBefore: number | null;
  placeAfter: number | null;
}

export interface DifferenceLine {
  mark: '+' | '-';
  text: string;
}

/** Such as `policy admin moved from place 3 to 1`. */
export function headOf(kind: string, { change, name, placeBefore, placeAfter }: ShownDifference): string {
  const place = change === 'moved' ? ` from place ${placeBefore} to ${placeAfter}` : '';
  return `${kind} ${name} ${change}${place}`;
}

/** Each field in one line, in the words of the audit trail. The name stands above. */
export function changedLines(kind: string, { name, before, after }: ShownDifference): DifferenceLine[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  names.delete('name');
  const fields = [...names]
    .filter((field) => JSON.stringify(old[field]) !== JSON.stringify(now[field]))
    .map((field) => ({ field, before: old[field], after: now[field] }));
  return linesOf({ kind, name, change: 'changed', fields }).flatMap(({ label, ...line }): DifferenceLine[] => [
    ...(line.before === null ? [] : [{ mark: '-' as const, text: `${label}: ${line.before}` }]),
    ...(line.after === null ? [] : [{ mark: '+' as const, text: `${label}: ${line.after}` }]),
  ]);
}

const membersOf = (item: object | null): Readonly<Record<string, unknown>> => ({ ...item });

type Sent = ResponseOf<'/protect/policies/diff'>['differences'];

/** Differences as the API lists them, with the conditions as text. */
export function readDifferences(differences: Sent): Readonly<Record<string, readonly ShownDifference[]>> {
  const policies = differences.policies.map((one) => ({
    ...one,
    before: one.before && withText(one.before),
    after: one.after && withText(one.after),
  }));
  return { ...differences, policies };
}

/** The API's description of a tree has less in it than a tree. */
function withText<Policy extends { when: unknown }>(policy: Policy): Policy & { when: string } {
  return { ...policy, when: printExpression(policy.when as Expression) };
}
