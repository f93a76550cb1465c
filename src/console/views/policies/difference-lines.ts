/** What changed of policies, limits and whatever else a set has, as the lines that were there and the lines that are. */
import { isJsonObject } from '../../../bytes/json.ts';
import { actionText, type ListedAction } from './policy.ts';
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

export function changedLines({ before, after }: ShownDifference): DifferenceLine[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name): DifferenceLine[] => {
    if (old[name] === now[name]) return [];
    return [
      ...(old[name] === undefined ? [] : [{ mark: '-' as const, text: `${name}: ${old[name]}` }]),
      ...(now[name] === undefined ? [] : [{ mark: '+' as const, text: `${name}: ${now[name]}` }]),
    ];
  });
}

/** Each field in one line. The name stands above. */
function fieldsOf(item: object | null): Record<string, string> {
  const fields = Object.entries(item ?? {}).filter(([name]) => name !== 'name');
  return Object.fromEntries(fields.map(([name, value]) => [name, textOf(value)]));
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isJsonObject(value) && 'action' in value ? actionText(value as ListedAction) : JSON.stringify(value);
}

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
