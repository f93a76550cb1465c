/**
 * The fields of a form as people type them. What a field may hold and how long it may be comes from the schemas of the
 * API (`form-schemas.generated.ts`), so a form repeats no bound. The service has the last word.
 */
import { useState } from 'preact/hooks';
import type { CheckFieldProps, TextFieldProps } from '../components/field.tsx';
import { type FormSchemas, isFilled, type Problems, fieldProblems, rangeText } from './setting-schema.ts';

type NamesOf<Draft, Kind> = { [Name in keyof Draft]: Draft[Name] extends Kind ? Name : never }[keyof Draft] & string;

export interface Form<Draft> {
  draft: Draft;
  write: (change: Partial<Draft>) => void;
  /** Everything that must be filled in is, and nothing is wrong. */
  isComplete: boolean;
  /** What is wrong with a field, once somebody has written into it. */
  problemAt: (name: keyof Draft & string) => string | null;
  text: (
    name: NamesOf<Draft, string>,
  ) => Pick<TextFieldProps, 'value' | 'onInput' | 'error' | 'type' | 'maxLength' | 'hint' | 'path'>;
  choice: <Name extends NamesOf<Draft, string>>(
    name: Name,
  ) => { value: Draft[Name]; onChange: (value: Draft[Name]) => void };
  flag: (name: NamesOf<Draft, boolean>) => Pick<CheckFieldProps, 'isChecked' | 'onChange'>;
}

export interface FormRules<Draft> {
  /** Fields that the schemas do not say enough about. */
  problems?: (draft: Draft) => Problems<Draft>;
  /** Problems are shown from the beginning: somebody has filled in the form before. */
  isTouched?: boolean;
}

/** @param schemas for what is typed so far, such as in the unit that is chosen. */
export function useForm<Draft extends object>(
  start: () => Draft,
  schemas: (draft: Draft) => FormSchemas<Draft>,
  { problems, isTouched = false }: FormRules<Draft> = {},
): Form<Draft> {
  const [draft, setDraft] = useState(start);
  const [touched, setTouched] = useState<readonly string[]>([]);
  const known = schemas(draft);
  const all = fieldProblems(draft, known, problems?.(draft));
  const write = (change: Partial<Draft>): void => {
    setDraft((former) => ({ ...former, ...change }));
    setTouched((former) => [...new Set([...former, ...Object.keys(change)])]);
  };
  const problemAt = (name: keyof Draft & string): string | null =>
    isTouched || touched.includes(name) ? (all[name] ?? null) : null;
  // A field's name is a key of the draft, which the compiler cannot follow through a computed one.
  const set = (name: keyof Draft, value: unknown): void => write({ [name]: value } as Partial<Draft>);
  return {
    draft,
    write,
    problemAt,
    isComplete: isFilled(draft, known) && Object.keys(all).length === 0,
    text: (name) => {
      const schema = known[name] ?? {};
      const range = rangeText(schema);
      return {
        value: draft[name] as string,
        onInput: (text) => set(name, text),
        error: problemAt(name),
        path: name,
        ...(schema.type === 'integer' || schema.type === 'number' ? { type: 'number' } : {}),
        ...(schema.maxLength === undefined ? {} : { maxLength: schema.maxLength }),
        ...(range === null ? {} : { hint: range }),
      };
    },
    choice: (name) => ({ value: draft[name], onChange: (value) => set(name, value) }),
    flag: (name) => ({ isChecked: draft[name] as boolean, onChange: (isChecked) => set(name, isChecked) }),
  };
}
