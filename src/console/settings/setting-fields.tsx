/** The field of a setting by its type: a box, a choice, a number, lines, or fields for each of its parts. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { BoxesField, CheckField, SelectField, TextField } from '../components/field.tsx';
import type { Refusal } from '../api/call.ts';
import { lineOf } from './refused-paths.ts';
import {
  boundsText,
  controlOf,
  hasOneDefault,
  partsOf,
  type SettingSchema,
  settingText,
  settingValue,
} from './setting-schema.ts';
import { settingLabel, unitOf, valueText } from './setting-words.ts';

export interface SettingFieldProps {
  /** Names with dots: `pathRules.0.action`. */
  path: string;
  schema: SettingSchema;
  value: unknown;
  /** `undefined`: the setting is left out. */
  onChange: (value: unknown) => void;
  /** Whether the field's text can be read. A form with an unreadable field is not sent. */
  onReadable: (path: string, isReadable: boolean) => void;
  /** What the service says, with paths like `path`. */
  refused: Refusal['details'];
  isDisabled: boolean;
}

type Members = Readonly<Record<string, unknown>>;

export function SettingField(props: SettingFieldProps) {
  const { path, schema, value, onChange, isDisabled, refused } = props;
  const kind = controlOf(schema);
  const label = settingLabel(path);
  const error = errorAt(refused, path, kind === 'lines' || kind === 'boxes');
  const hint = <Hint path={path} schema={schema} />;
  const frame = { label, hint, error, isDisabled };
  if (kind === 'flag')
    return <CheckField {...frame} isChecked={(value ?? schema.default) === true} onChange={onChange} />;
  if (kind === 'choice') {
    const options = (schema.enum ?? []).map((one) => [one, valueText(one)] as const);
    return (
      <SelectField
        {...frame}
        value={typeof value === 'string' ? value : typeof schema.default === 'string' ? schema.default : ''}
        options={schema.default === undefined ? [['', 'not set'] as const, ...options] : options}
        onChange={(chosen) => onChange(chosen === '' ? undefined : chosen)}
      />
    );
  }
  if (kind === 'boxes') {
    const chosen = Array.isArray(value) ? (value as string[]) : [];
    return (
      <BoxesField legend={label} error={error} options={schema.items?.enum ?? []} chosen={chosen} onChange={onChange} />
    );
  }
  if (kind === 'group') return <Parts {...props} hint={hint} error={error} />;
  if (kind === 'rows') return <Rows {...props} hint={hint} error={error} />;
  if (kind === 'map') return <NamedRows {...props} hint={hint} error={error} />;
  return <TextSetting {...props} hint={hint} error={error} />;
}

/** @param isWhole a fault in an item is the field's own. */
function errorAt(refused: Refusal['details'], path: string, isWhole: boolean): string | null {
  const found = refused.find((one) => one.path === path || (isWhole && one.path.startsWith(`${path}.`)));
  return found === undefined ? null : (isWhole ? lineOf(found.path) : '') + found.message;
}

type FramedProps = SettingFieldProps & { hint: ComponentChildren; error: string | null };

/** What it is for, and below it the range, the default and the name in the API. */
function Hint({ path, schema }: { path: string; schema: SettingSchema }) {
  const bounds = boundsText({
    ...schema,
    ...(typeof schema.default === 'string' ? { default: valueText(schema.default) } : {}),
  });
  return (
    <>
      {schema.description !== undefined && <Prose text={schema.description.replace(/\.?$/, '.')} />}
      <span class="setting-facts">
        {bounds !== '' && <b>{bounds}</b>} <code>{path.split('.').at(-1)}</code>
      </span>
    </>
  );
}

/** A sentence of ours in which backticks mark code, as in the descriptions of the API. Not for text of visitors. */
function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

/** A field for each part. One within another part is folded until it has a value. */
function Parts({ hint, error, ...field }: FramedProps) {
  const { path, schema, value } = field;
  const fields = <PartFields {...field} />;
  if (path.includes('.')) {
    return (
      <details class="setting-part" open={value !== undefined}>
        <summary>{settingLabel(path)}</summary>
        <Notes hint={hint} error={error} />
        {fields}
      </details>
    );
  }
  return (
    <fieldset class="group">
      <legend>{settingLabel(path)}</legend>
      <Notes hint={hint} error={error} />
      {Object.keys(partsOf(schema)).length > 0 && fields}
    </fieldset>
  );
}

function Notes({ hint, error }: { hint: ComponentChildren; error: string | null }) {
  return (
    <>
      <p class="hint">{hint}</p>
      {error !== null && <p class="field-error">{error}</p>}
    </>
  );
}

function PartFields({ path, schema, value, onChange, ...others }: SettingFieldProps) {
  const parts = hasOneDefault(schema) ? partsWithoutDefault(schema) : partsOf(schema);
  // One number in place of an object is that number for each of its parts.
  const members: Members =
    typeof value === 'number'
      ? Object.fromEntries(Object.keys(parts).map((name) => [name, value]))
      : ((value ?? {}) as Members);
  return (
    <div class="group-members">
      {Object.entries(parts).map(([name, part], at, all) => (
        <SettingField
          {...others}
          key={name}
          path={`${path}.${name}`}
          schema={at > 0 && all[at - 1]![1].description === part.description ? withoutDescription(part) : part}
          value={members[name]}
          onChange={(next) => {
            const { [name]: _former, ...rest } = members;
            const changed = next === undefined ? rest : { ...members, [name]: next };
            // A group of settings in which nothing is set is left out.
            onChange(Object.keys(changed).length === 0 && path.includes('.') ? undefined : changed);
          }}
        />
      ))}
    </div>
  );
}

/** The default is the group's. The one of a part only counts where another part has a value and this one has none. */
function partsWithoutDefault(schema: SettingSchema): Readonly<Record<string, SettingSchema>> {
  return Object.fromEntries(
    Object.entries(partsOf(schema)).map(([name, { default: whenEmpty, ...part }]) => [name, { ...part, whenEmpty }]),
  );
}

/** What several parts have in common is said once. */
function withoutDescription({ description: _said, ...schema }: SettingSchema): SettingSchema {
  return schema;
}

/** A list in which the order counts. */
function Rows({ path, schema, value, onChange, hint, error, isDisabled, ...others }: FramedProps) {
  const rows = Array.isArray(value) ? (value as Members[]) : [];
  const label = settingLabel(path);
  const swapped = (at: number): Members[] =>
    rows.map((row, index) => (index === at ? rows[at - 1]! : index === at - 1 ? rows[at]! : row));
  return (
    <fieldset class="group">
      <legend>{label}</legend>
      <Notes hint={hint} error={error} />
      {rows.map((row, at) => (
        <fieldset key={at} class="setting-row">
          <legend>{`${label}, ${at + 1}`}</legend>
          <PartFields
            {...others}
            path={`${path}.${at}`}
            schema={schema.items ?? {}}
            value={row}
            isDisabled={isDisabled}
            onChange={(next) => onChange(rows.map((one, index) => (index === at ? (next ?? {}) : one)))}
          />
          {!isDisabled && (
            <div class="actions">
              {at > 0 && (
                <Button isSmall label={`Move up ${at + 1}`} onClick={() => onChange(swapped(at))}>
                  Move up
                </Button>
              )}
              <Button
                isSmall
                label={`Remove ${at + 1}`}
                onClick={() => onChange(rows.filter((_, index) => index !== at))}
              >
                Remove
              </Button>
            </div>
          )}
        </fieldset>
      ))}
      {!isDisabled && (
        <Button isSmall label={`Add to ${label}`} onClick={() => onChange([...rows, {}])}>
          Add
        </Button>
      )}
    </fieldset>
  );
}

/** Values by a name that is typed, such as a country. */
function NamedRows({ path, schema, value, onChange, hint, error, isDisabled, ...others }: FramedProps) {
  const [typed, setTyped] = useState('');
  const named = (value ?? {}) as Members;
  const without = (name: string): Members => Object.fromEntries(Object.entries(named).filter(([one]) => one !== name));
  return (
    <fieldset class="group">
      <legend>{settingLabel(path)}</legend>
      <Notes hint={hint} error={error} />
      {Object.entries(named).map(([name, one]) => (
        <fieldset key={name} class="setting-row">
          <legend>{name}</legend>
          <PartFields
            {...others}
            path={`${path}.${name}`}
            schema={schema.additionalProperties ?? {}}
            value={one}
            isDisabled={isDisabled}
            onChange={(next) => onChange({ ...named, [name]: next ?? {} })}
          />
          {!isDisabled && (
            <Button isSmall label={`Remove ${name}`} onClick={() => onChange(without(name))}>
              Remove
            </Button>
          )}
        </fieldset>
      ))}
      {!isDisabled && (
        <div class="row">
          <TextField label="Country" placeholder="DE" maxLength={2} value={typed} onInput={setTyped} />
          <Button
            isDisabled={!/^[a-z]{2}$/i.test(typed)}
            onClick={() => {
              onChange({ ...named, [typed.toUpperCase()]: {} });
              setTyped('');
            }}
          >
            Add
          </Button>
        </div>
      )}
    </fieldset>
  );
}

/** Keeps what is typed, also while it cannot be read yet. */
function TextSetting({ path, schema, value, onChange, onReadable, error, isDisabled, hint }: FramedProps) {
  const kind = controlOf(schema);
  const stored = settingText(schema, value);
  const [typed, setTyped] = useState<{ text: string; of: string } | null>(null);
  // A value that comes from elsewhere, as after saving, replaces what was typed for another one.
  const text = typed !== null && typed.of === stored ? typed.text : stored;
  const read = settingValue(schema, text);
  const unit = unitOf(path);
  return (
    <TextField
      label={settingLabel(path) + (unit === null ? '' : ` (${unit})`)}
      hint={
        <>
          {kind === 'lines' && 'One per line. '}
          {hint}
        </>
      }
      error={read.ok ? error : read.error}
      value={text}
      placeholder={value === undefined && typeof schema.default === 'number' ? String(schema.default) : ''}
      rows={kind === 'lines' ? 3 : 1}
      isMono={kind !== 'text'}
      isDisabled={isDisabled}
      onInput={(next) => {
        const parsed = settingValue(schema, next);
        onReadable(path, parsed.ok);
        setTyped({ text: next, of: parsed.ok ? settingText(schema, parsed.value) : stored });
        if (parsed.ok) onChange(parsed.value);
      }}
    />
  );
}
