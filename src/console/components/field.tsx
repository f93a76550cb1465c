/** Form fields with their label, hint and error, so that no input stands without a name. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { count } from '../format/numbers.ts';

interface Frame {
  label: string;
  hint?: ComponentChildren;
  error?: string | null;
  /** Only screen readers get the label; for a field whose meaning is plain from its place. */
  isLabelHidden?: boolean;
}

function Framed({
  id,
  label,
  hint,
  error,
  isLabelHidden,
  children,
}: Frame & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id} class={isLabelHidden === true ? 'unseen' : ''}>
        {label}
      </label>
      {children}
      <Notes id={id} hint={hint} error={error} />
    </div>
  );
}

interface NotesProps {
  id: string;
  hint?: ComponentChildren;
  error?: string | null | undefined;
}

function Notes({ id, hint, error }: NotesProps) {
  return (
    <>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {typeof error === 'string' && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </>
  );
}

function described(id: string, { hint, error }: Frame): string | undefined {
  const ids = [hint === undefined ? '' : `${id}-hint`, typeof error === 'string' ? `${id}-error` : ''];
  return ids.join(' ').trim() || undefined;
}

export interface TextFieldProps extends Frame {
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'email' | 'search' | 'number' | 'url';
  placeholder?: string;
  /** More than one: a text area with so many lines. */
  rows?: number;
  maxLength?: number;
  isDisabled?: boolean;
  isRequired?: boolean;
  /** Names of keys, addresses and codes. */
  isMono?: boolean;
  autoComplete?: string;
  /** Values to choose from; others can be typed. */
  suggestions?: readonly string[];
}

export function TextField(props: TextFieldProps) {
  const { value, onInput, type = 'text', rows = 1, isMono = false } = props;
  const id = useId();
  const shared = {
    id,
    value,
    class: isMono ? 'mono' : '',
    placeholder: props.placeholder,
    maxLength: props.maxLength,
    disabled: props.isDisabled,
    required: props.isRequired,
    spellcheck: false,
    autocomplete: props.autoComplete ?? 'off',
    'aria-describedby': described(id, props),
    'aria-invalid': typeof props.error === 'string',
  };
  return (
    <Framed {...props} id={id}>
      {rows > 1 ? (
        <textarea {...shared} rows={rows} onInput={(event) => onInput(event.currentTarget.value)} />
      ) : (
        <input
          {...shared}
          type={type as 'text'}
          list={props.suggestions === undefined ? undefined : `${id}-list`}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
      {props.suggestions !== undefined && (
        <datalist id={`${id}-list`}>
          {props.suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </Framed>
  );
}

/** A value to choose, and what it is called where that is something else. */
export type Option<Value extends string> = Value | readonly [value: Value, text: string];

export interface SelectFieldProps<Value extends string> extends Frame {
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
  isDisabled?: boolean;
}

export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const id = useId();
  return (
    <Framed {...props} id={id}>
      <select
        id={id}
        value={props.value}
        disabled={props.isDisabled}
        aria-describedby={described(id, props)}
        aria-invalid={typeof props.error === 'string'}
        onChange={(event) => props.onChange(event.currentTarget.value as Value)}
      >
        {props.options.map(namedOption).map(([value, text]) => (
          <option key={value} value={value} selected={value === props.value}>
            {text}
          </option>
        ))}
      </select>
    </Framed>
  );
}

export function namedOption<Value extends string>(option: Option<Value>): readonly [value: Value, text: string] {
  return typeof option === 'string' ? [option, option] : option;
}

export interface CheckFieldProps extends Frame {
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
  isDisabled?: boolean;
}

export function CheckField(props: CheckFieldProps) {
  const id = useId();
  return (
    <div class="field field-check">
      <input
        id={id}
        type="checkbox"
        checked={props.isChecked}
        disabled={props.isDisabled}
        aria-describedby={described(id, props)}
        aria-invalid={typeof props.error === 'string'}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <label for={id}>{props.label}</label>
      <Notes {...props} id={id} />
    </div>
  );
}

export interface TextFileFieldProps {
  label: string;
  maxBytes: number;
  accept?: string;
  isDisabled?: boolean;
  /** What to do with a file that is too large. */
  otherWay?: string;
  /** The chosen file as text; `null`: no file is chosen, or the file is too large. */
  onChoose: (text: string | null) => void;
}

/** A field for a file of text that the page reads. */
export function TextFileField({ label, maxBytes, accept, isDisabled, otherWay = '', onChoose }: TextFileFieldProps) {
  const id = useId();
  const [error, setError] = useState<string | null>(null);
  const choose = async (file: File | undefined): Promise<void> => {
    const fits = file === undefined || file.size <= maxBytes;
    setError(fits ? null : `It is larger than ${count(maxBytes / 1_000_000)} MB. ${otherWay}`.trim());
    onChoose(file === undefined || !fits ? null : await file.text());
  };
  return (
    <Framed id={id} label={label} error={error}>
      <input
        id={id}
        type="file"
        accept={accept}
        disabled={isDisabled}
        aria-describedby={described(id, { label, error })}
        onChange={(event) => void choose(event.currentTarget.files?.[0])}
      />
    </Framed>
  );
}

export interface BoxesFieldProps {
  legend: string;
  options: readonly Option<string>[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  error?: string | null;
}

/** A box for each option. What is chosen is in the order of the options. */
export function BoxesField({ legend, options, chosen, onChange, error }: BoxesFieldProps) {
  const id = useId();
  const named = options.map(namedOption);
  const set = (value: string, isChosen: boolean) =>
    onChange(named.map(([one]) => one).filter((one) => (one === value ? isChosen : chosen.includes(one))));
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="group-members">
        {named.map(([value, text]) => (
          <CheckField
            key={value}
            label={text}
            isChecked={chosen.includes(value)}
            onChange={(isChosen) => set(value, isChosen)}
          />
        ))}
      </div>
      <Notes id={id} error={error} />
    </fieldset>
  );
}
