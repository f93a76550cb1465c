/** The decision table of one request as rows for a reader: what each input said, and what became of it. Pure. */
import type { Decision } from '../contract/vocabulary.ts';
import { decide, type DecideInputs, liftedInputs, type TableInput, tableInputs } from './decision-table.ts';

export const rowOutcomes = ['decided', 'overruled', 'lifted', 'silent'] as const;

export interface TableRow {
  input: TableInput;
  /** `null`: this input said nothing. */
  verdict: Decision | null;
  /** Rule id, `category:<name>`, `risk:<verdict>`, `limit:<name>`, `policy:<reason>` or `bot:<id>`. */
  by: string | null;
  outcome: (typeof rowOutcomes)[number];
  /** The first input whose `allow` lifts this one. */
  liftedBy: TableInput | null;
}

export function tableRows(inputs: DecideInputs): TableRow[] {
  const { input: deciding } = decide(inputs);
  return tableInputs.map((input): TableRow => {
    const said = inputs[input];
    if (said === null) return { input, verdict: null, by: null, outcome: 'silent', liftedBy: null };
    const lifter = tableInputs.find((other) => lifts(inputs, other, input)) ?? null;
    const outcome = input === deciding ? 'decided' : lifter === null ? 'overruled' : 'lifted';
    return { input, verdict: said.verdict, by: only(inputs, [input]).by, outcome, liftedBy: lifter };
  });
}

/** Whether `lifter` alone lifts `input`. No input lifts itself. */
function lifts(inputs: DecideInputs, lifter: TableInput, input: TableInput): boolean {
  return liftedInputs(only(inputs, [lifter, input]).inputs).includes(input);
}

/** These inputs, and none of the others. */
function only(inputs: DecideInputs, kept: readonly TableInput[]): { inputs: DecideInputs; by: string } {
  const empty: DecideInputs = {
    network: null,
    client: null,
    bot: null,
    category: null,
    risk: null,
    limit: null,
    policy: null,
  };
  const chosen = { ...empty, ...Object.fromEntries(kept.map((input) => [input, inputs[input]])) };
  return { inputs: chosen, by: decide(chosen).decidedBy };
}
