/** A policy as the console shows, compares and sends it: its condition is text. */
import type { ResponseOf, Schema } from '../../api/service-api.ts';

export type ListedAction = Schema<'PolicyAction'>;
export type StoredSet = ResponseOf<'/protect/policies'>;

export interface TextPolicy {
  name: string;
  description?: string;
  /** In the text form. */
  when: string;
  then: ListedAction;
  mode: 'enforce' | 'monitor';
}

/** In words, for forms. */
export const policyModes = [
  ['monitor', 'monitor: only recorded'],
  ['enforce', 'enforce'],
] as const;

/** As `/protect/policies` lists it, without its counts. */
export function textPolicy({
  name,
  description,
  text,
  then,
  mode,
}: Pick<StoredSet['policies'][number], 'name' | 'description' | 'text' | 'then' | 'mode'>): TextPolicy {
  return { name, ...(description === undefined ? {} : { description }), when: text, then, mode };
}

/** In few words, as the command line writes it. */
export function actionText(then: ListedAction): string {
  const { action, ...fields } = then;
  const words = Object.values(fields).filter((value) => value !== undefined);
  return [action, ...words].join(' ');
}
