/** What is typed into the form of rules: one value in each line, each of the type that an import detects or that is chosen. */
import { ruleFileEntries } from '../../../contract/management/rule-file/rule-file.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { Refusal } from '../../api/call.ts';
import { counted } from '../../format/numbers.ts';
import { ruleTypes, type RuleType } from './rule.ts';

export interface TypedValue {
  /** In the text, from 1. */
  line: number;
  type: RuleType;
  value: string;
}

/** @param type of every line; `detected`: of each line what an import takes it for. */
export function typedValues(text: string, type: RuleType | 'detected'): Result<TypedValue[], string> {
  if (type !== 'detected') {
    const lines = text.split('\n').map((line, at) => ({ line: at + 1, type, value: line.trim() }));
    return ok(lines.filter(({ value }) => value !== ''));
  }
  const entries = [...ruleFileEntries(text, 'list')];
  const [wrong, ...others] = entries.flatMap((entry) => ('reason' in entry ? [entry] : []));
  if (wrong === undefined) {
    return ok(entries.flatMap((entry) => ('rule' in entry ? [{ line: entry.line, ...entry.rule } as TypedValue] : [])));
  }
  const more = others.length === 0 ? '' : `. ${counted(others.length, 'more line is', 'more lines are')} wrong`;
  return failed(`line ${wrong.line}: ${wrong.reason}${more}`);
}

/** `2 addresses, 1 network`, in the order of the types. */
export function detectedText(values: readonly TypedValue[]): string {
  const types = Object.keys(ruleTypes) as RuleType[];
  const counts = types.map((type) => ({ type, count: values.filter((value) => value.type === type).length }));
  return counts
    .filter(({ count }) => count > 0)
    .map(({ type, count }) => counted(count, ...ruleTypes[type].noun))
    .join(', ');
}

/** What the service says about a rule of the call, at the line of the form that it is from. */
export function atLines(error: Refusal, values: readonly TypedValue[]): Refusal {
  const details = error.details.map(({ path, message }) => {
    const index = /^rules[.[](\d+)\]?\.value$/.exec(path)?.[1];
    const line = index === undefined ? undefined : values[Number(index)]?.line;
    return { path: line === undefined ? path : `values.${line - 1}`, message };
  });
  return { ...error, details };
}
