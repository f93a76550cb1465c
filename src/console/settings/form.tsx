/**
 * A form as a table of fields. What a field may hold and how long it may be comes from the schemas of the API
 * (`form-schemas.generated.ts`), so a form repeats no bound. The service has the last word.
 */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Refusal } from '../api/call.ts';
import {
  BoxesField,
  CheckField,
  type Option,
  SelectField,
  TextField,
  type TextFieldProps,
} from '../components/field.tsx';
import { RefusalNotice } from '../components/page.tsx';
import { isAt, lineOf } from './refused-paths.ts';
import { fieldProblems, type FormSchemas, isFilled, isNumber, type Problems, rangeText } from './setting-schema.ts';

/** `false`: a field that the form does not have now. */
type Fields<Draft> = readonly (FormField<Draft> | false)[];

export interface Form<Draft> {
  /** The fields as people type them. */
  draft: Draft;
  schemas: FormSchemas<Draft>;
  write: (change: Partial<Draft>) => void;
  /** Everything that must be filled in is, and nothing is wrong. */
  isComplete: boolean;
  /** What is wrong with a field, once somebody has written into it. */
  problemAt: (name: keyof Draft & string) => string | null;
  /** Nobody can write into it. */
  isDisabled: boolean;
  fields: (fields: Fields<Draft>) => ComponentChildren;
}

export interface FormRules<Draft> {
  /** Fields that the schemas do not say enough about. */
  problems?: (draft: Draft) => Problems<Draft>;
  /** Problems are shown from the beginning: somebody has filled in the form before. */
  isTouched?: boolean;
}

/** @param schemas for what is typed so far, such as in the unit that is chosen. */
export function useForm<Draft extends object>(
  start: Draft,
  schemas: FormSchemas<NoInfer<Draft>> | ((draft: Draft) => FormSchemas<Draft>),
  { problems, isTouched = false }: FormRules<Draft> = {},
): Form<Draft> {
  const [draft, setDraft] = useState(start);
  const [touched, setTouched] = useState<readonly string[]>([]);
  const known = typeof schemas === 'function' ? schemas(draft) : schemas;
  const all = fieldProblems(draft, known, problems?.(draft));
  const write = (change: Partial<Draft>): void => {
    setDraft((former) => ({ ...former, ...change }));
    setTouched((former) => [...new Set([...former, ...Object.keys(change)])]);
  };
  return formOn(draft, write, {
    schemas: known,
    isComplete: isFilled(draft, known) && Object.keys(all).length === 0,
    problemAt: (name) => (isTouched || touched.includes(name) ? (all[name] ?? null) : null),
  });
}

/** The form of something that is kept elsewhere. */
export function formOn<Draft>(
  draft: Draft,
  write: Form<Draft>['write'],
  rules: Partial<Pick<Form<Draft>, 'schemas' | 'isComplete' | 'problemAt' | 'isDisabled'>>,
): Form<Draft> {
  const unbound = { schemas: {}, isComplete: true, problemAt: () => null, isDisabled: false };
  const form: Form<Draft> = { ...unbound, ...rules, draft, write, fields: (fields) => fieldsOf(form, fields) };
  return form;
}

type Frame = Pick<TextFieldProps, 'label' | 'hint' | 'isDisabled' | 'isLabelHidden'>;
type TextFrame = Pick<TextFieldProps, 'placeholder' | 'rows' | 'isMono' | 'isRequired' | 'type' | 'suggestions'>;

/** A row of the table: a box for a flag, boxes for several values, a list for what has options, and a text otherwise. */
export type FormField<Draft> = {
  [Name in keyof Draft & string]: Frame &
    TextFrame & {
      name: Name;
      options?: readonly Option<(Draft[Name] extends readonly (infer One)[] ? One : Draft[Name]) & string>[];
      /** What is wrong with these fields is shown from then on too. */
      also?: readonly (keyof Draft)[];
    };
}[keyof Draft & string];

function fieldsOf<Draft>(form: Form<Draft>, fields: Fields<Draft>): ComponentChildren {
  // A field's name is a key of the draft, which the compiler cannot follow through a computed one.
  const known = form as unknown as Form<Record<string, unknown>>;
  return fields.map((field) => field !== false && <OneField key={field.name} form={known} {...field} />);
}

interface OneFieldProps extends Frame, TextFrame {
  form: Form<Record<string, unknown>>;
  name: string;
  options?: readonly Option<string>[];
  also?: readonly PropertyKey[];
}

function OneField({ form, name, options, also = [], isDisabled = form.isDisabled, ...others }: OneFieldProps) {
  const { draft, schemas, write, problemAt } = form;
  const refused = useRefusal(name, others.label);
  const error = problemAt(name) ?? refused;
  const frame = { ...others, isDisabled, error };
  const value = draft[name];
  const set = (next: unknown): void =>
    write({ ...Object.fromEntries(also.map((other) => [other, draft[String(other)]])), [name]: next });
  if (typeof value === 'boolean') return <CheckField {...frame} isChecked={value} onChange={set} />;
  if (Array.isArray(value)) {
    const chosen = value as string[];
    return <BoxesField legend={frame.label} error={error} options={options ?? []} chosen={chosen} onChange={set} />;
  }
  if (options !== undefined) return <SelectField {...frame} value={String(value)} options={options} onChange={set} />;
  const schema = schemas[name] ?? {};
  return (
    <TextField
      hint={rangeText(schema) ?? undefined}
      {...(isNumber(schema) ? { type: 'number' } : {})}
      {...(schema.maxLength === undefined ? {} : { maxLength: schema.maxLength })}
      {...frame}
      value={String(value)}
      onInput={set}
    />
  );
}

/** What the service refuses in the form around a field, and what the form calls its fields, by their name in the call. */
const Refused = createContext<{ details: Refusal['details']; labels: Map<string, string> }>({
  details: [],
  labels: new Map(),
});

/** @returns what the service says about a field. It is named by its label where the form says what was refused. */
export function useRefusal(field: string, label: string): string | null {
  const { details, labels } = useContext(Refused);
  useEffect(() => {
    labels.set(field, label);
    return () => void labels.delete(field);
  }, [labels, field, label]);
  const found = details.find(({ path }) => isAt(path, field));
  return found === undefined ? null : lineOf(found.path) + found.message;
}

/** A text outside of the table of fields that the service may refuse. */
export function RefusableText({ name, error = null, ...field }: TextFieldProps & { name: string }) {
  const refused = useRefusal(name, field.label);
  return <TextField {...field} error={error ?? refused} />;
}

/** Fields that the service may refuse: the reason in the words of their labels, in view, and the first such field. */
export function RefusedForm({ error, children }: { error: Refusal | null; children: ComponentChildren }) {
  const [labels] = useState(() => new Map<string, string>());
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error !== null) fields.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error]);
  return (
    <Refused.Provider value={{ details: error?.details ?? [], labels }}>
      <RefusalInWords error={error} />
      <div ref={fields} class="stack">
        {children}
      </div>
    </Refused.Provider>
  );
}

/** A refusal with the labels of the form around it. */
export function RefusalInWords({ error }: { error: Refusal | null }) {
  const { labels } = useContext(Refused);
  const details = (error?.details ?? []).map(({ path, message }) => {
    const field = [...labels.keys()].find((name) => isAt(path, name));
    return { path: (field !== undefined && labels.get(field)) || '', message: lineOf(path) + message };
  });
  return <RefusalNotice error={error && { ...error, details }} isInWords />;
}
