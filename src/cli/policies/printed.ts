/** Policies, differences and reports of imports as lines of text. */
import type { PolicyAction } from '../../contract/management/policy-set/policy.ts';
import { printable } from '../printable.ts';
import { printAction } from './action.ts';

export interface ListedPolicy {
  name: string;
  description?: string;
  text: string;
  then: PolicyAction;
  mode: string;
  hits?: { total: number; lastHitAt: string | null };
}

export interface Difference {
  change: 'added' | 'removed' | 'changed' | 'moved';
  name: string;
  placeBefore: number | null;
  placeAfter: number | null;
}

interface ReportedRule {
  place: string;
  source: string;
  outcome: string;
  policy: ListedPolicy | null;
  differences: string[];
  reason: string | null;
}

export interface Written {
  version: number;
  changed: boolean;
  dryRun: boolean;
  differences: Differences;
}

export interface Imported extends Written {
  taken: number;
  takenWithADifference: number;
  notExpressible: number;
  rules: ReportedRule[];
  notes: string[];
}

export function policyLines(version: number, policies: readonly ListedPolicy[]): string[] {
  if (policies.length === 0) return [`Version ${version} has no policies.`];
  const lines = policies.flatMap(({ name, text, then, mode, hits }, index) => {
    const counted = hits === undefined ? '' : `, fired ${hits.total} times`;
    const monitored = mode === 'monitor' ? ' (monitor)' : '';
    return [`${index + 1}. ${name}: ${printAction(then)}${monitored}${counted}`, `   ${printable(text)}`];
  });
  return [`Version ${version}:`, ...lines];
}

const signs = { added: '+', removed: '-', changed: '~', moved: '>' } as const;

export interface Differences {
  policies: Difference[];
  limits: Difference[];
  origins: Difference[];
}

export function differenceLines({ policies, limits, origins }: Differences): string[] {
  return [
    ...policies.map((difference) => differenceLine('policy', difference)),
    ...limits.map((difference) => differenceLine('limit', difference)),
    ...origins.map((difference) => differenceLine('origin', difference)),
  ];
}

function differenceLine(kind: string, { change, name, placeBefore, placeAfter }: Difference): string {
  const place = change === 'moved' ? ` from place ${placeBefore} to ${placeAfter}` : '';
  return `${signs[change]} ${kind} ${name} ${change}${place}`;
}

export function writtenLines(response: Written): string[] {
  return [...differenceLines(response.differences), writtenLine(response)];
}

function writtenLine({ version, changed, dryRun }: Written): string {
  if (!changed) return `Nothing changes. The current version is ${version}.`;
  return dryRun ? `Nothing was changed: a dry run on version ${version}.` : `This is version ${version}.`;
}

/** What became of each rule of another product. */
export function importLines(response: Imported): string[] {
  const { taken, takenWithADifference: differing, notExpressible: refused } = response;
  const counts = `${taken} taken, ${differing} taken with a difference, ${refused} not taken.`;
  const end = response.dryRun ? 'Nothing was changed. Add --apply to take them.' : writtenLine(response);
  return [
    ...reportLines(response.rules, response.notes),
    '',
    taken + differing === 0 ? `${counts} Nothing was changed.` : `${counts} ${end}`,
  ];
}

export function reportLines(rules: readonly ReportedRule[], notes: readonly string[]): string[] {
  const lines = rules.flatMap(({ place, source, policy, differences, reason }) => {
    const head = `${place}: ${printable(source)}`;
    if (policy === null) return [head, `  not taken: ${printable(reason ?? '')}`];
    const { name, then, mode, text } = policy;
    return [
      head,
      `  ${name}: ${printAction(then)}${mode === 'monitor' ? ' (monitor)' : ''} where ${printable(text)}`,
      ...differences.map((difference) => `  differs: ${difference}`),
    ];
  });
  return [...lines, ...notes.map((note) => `note: ${printable(note)}`)];
}
