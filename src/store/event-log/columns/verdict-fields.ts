/**
 * What a sealed verdict is searched by, beside its keys and its time: the fields with few values as one column, so that
 * any combination of them is counted from its dictionary.
 */
import { decisions } from '../../../contract/vocabulary.ts';
import { type FieldTest, where } from './field-test.ts';
import type { LogRecord } from '../log-record.ts';
import type { RowFilter } from '../row-filter.ts';

/** Number of the column in `segment_columns`. */
export const CLASS_COLUMN = 1;

/** Outcome, source, device type, number of fired rules, then the bot and its proof, or `null`. */
type RowClass = [
  outcome: number,
  source: string,
  device: string,
  fired: number,
  bot: string | null,
  proof: string | null,
];

export function classText({ decision, source, device_type, fired_rules, bot }: LogRecord): string {
  const outcome = decisions.findIndex((name) => name === decision);
  const one: RowClass = [outcome, source, device_type, fired_rules.length, bot?.id ?? null, bot?.proof ?? null];
  return JSON.stringify(one);
}

/** `null`: the filter has no condition on these fields. */
export function classTest(filter: RowFilter): FieldTest<null> | null {
  const { outcomes, sources, devices, bots, proofs, minRulesFired } = filter;
  const isTested = [outcomes, sources, devices, bots, proofs].some((list) => list !== null) || minRulesFired > 0;
  if (!isTested) return null;
  return where(null, (value) => {
    const [outcome, source, device, fired, bot, proof] = value as RowClass;
    if (outcomes && !outcomes.includes(outcome)) return false;
    if (sources && !sources.includes(source)) return false;
    if (devices && !devices.includes(device)) return false;
    if (bots && (bot === null || !bots.includes(bot))) return false;
    if (proofs && (proof === null || !proofs.includes(proof))) return false;
    return fired >= minRulesFired;
  });
}
