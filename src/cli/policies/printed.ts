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

export interface ReportedRule {
  place: string;
  source: string;
  outcome: string;
  policy: ListedPolicy | null;
  differences: string[];
  reason: string | null;
}

export function policyLines(version: number, policies: readonly ListedPolicy[]): string {
  if (policies.length === 0) return `Version ${version} has no policies.`;
  const lines = policies.map(({ name, text, then, mode, hits }, index) => {
    const counted = hits === undefined ? '' : `, fired ${hits.total} times`;
    const monitored = mode === 'monitor' ? ' (monitor)' : '';
    return `${index + 1}. ${name}: ${printAction(then)}${monitored}${counted}\n   ${printable(text)}`;
  });
  return [`Version ${version}:`, ...lines].join('\n');
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
