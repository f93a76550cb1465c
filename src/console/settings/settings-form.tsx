/**
 * A form for the settings of an instance or a site. It sends only the members that were changed, and only over the
 * version that it shows: two people who change different members do not undo each other, and of two who change the same
 * one, the second is told.
 */
import { useState } from 'preact/hooks';
import { CheckField, SelectField, TextField } from '../components/field.tsx';
import { RefusalNotice } from '../components/page.tsx';
import {
  boundsText,
  controlOf,
  type SettingSchema,
  type SettingSchemas,
  settingText,
  settingValue,
} from './setting-schema.ts';
import { SaveBar, type SavedProps, useSaved } from './use-saved.tsx';

export interface SettingsFormProps extends SavedProps {
  schemas: SettingSchemas;
  /** Where the service's details name the settings: `settings.` for a site. */
  detailPrefix?: string;
  isDisabled: boolean;
}

export function SettingsForm({ schemas, detailPrefix = '', isDisabled, ...props }: SettingsFormProps) {
  const [unreadable, setUnreadable] = useState<readonly string[]>([]);
  const [search, setSearch] = useState('');
  // New fields after saving and discarding, so that none keeps what was typed into it.
  const [generation, setGeneration] = useState(0);
  const onFresh = (): void => {
    setUnreadable([]);
    setGeneration((former) => former + 1);
  };
  const saved = useSaved(Object.keys(schemas), { ...props, onFresh });
  const { current, error } = saved;
  const names = Object.keys(saved.changes);
  const errorAt = (name: string): string | null => {
    const path = `${detailPrefix}${name}`;
    const found = error?.details.find((detail) => detail.path === path || detail.path.startsWith(`${path}.`));
    return found === undefined ? null : `${found.path.slice(detailPrefix.length)}: ${found.message}`;
  };
  const isFound = (name: string) =>
    `${name} ${schemas[name]?.description ?? ''}`.toLowerCase().includes(search.trim().toLowerCase());
  return (
    <form
      class="settings"
      onSubmit={(event) => {
        event.preventDefault();
        if (names.length > 0 && unreadable.length === 0) void saved.save();
      }}
    >
      <TextField label="Find a setting" type="search" value={search} onInput={setSearch} />
      <RefusalNotice error={error} />
      {Object.entries(schemas).map(([name, schema]) => (
        <div key={`${generation} ${name}`} class="setting" data-changed={names.includes(name)} hidden={!isFound(name)}>
          <SettingField
            name={name}
            schema={schema}
            value={current[name]}
            error={errorAt(name)}
            isDisabled={isDisabled}
            onReadable={(field, isReadable) =>
              setUnreadable((former) => [...former.filter((one) => one !== field), ...(isReadable ? [] : [field])])
            }
            onChange={(value) => saved.change({ [name]: value })}
          />
        </div>
      ))}
      {!isDisabled && (
        <SaveBar
          saved={saved}
          text={`${names.length === 0 ? 'No changes' : `Changed: ${names.join(', ')}`}${
            unreadable.length === 0 ? '' : `. Cannot be read: ${unreadable.join(', ')}`
          }`}
          isReadable={unreadable.length === 0}
        />
      )}
    </form>
  );
}

/** One setting with its explanation, range and default, whatever its type. */
interface SettingFieldProps {
  name: string;
  schema: SettingSchema;
  value: unknown;
  /** `undefined`: the setting is left out. */
  onChange: (value: unknown) => void;
  /** Whether the field's text can be read. A form with an unreadable field is not sent. */
  onReadable: (name: string, isReadable: boolean) => void;
  /** What the service says about it. */
  error: string | null;
  isDisabled: boolean;
}

const JSON_ROWS_MAX = 14;

function SettingField(props: SettingFieldProps) {
  const { name, schema, value, onChange, isDisabled, error } = props;
  const bounds = boundsText(schema);
  const hint = [schema.description?.replace(/\.?$/, '.'), bounds === '' ? '' : `(${bounds})`].filter(Boolean).join(' ');
  const kind = controlOf(schema);
  if (kind === 'flag') {
    return (
      <CheckField
        label={name}
        hint={<Prose text={hint} />}
        isChecked={value === true}
        onChange={onChange}
        isDisabled={isDisabled}
      />
    );
  }
  if (kind === 'choice') {
    const options = [['', 'not set'] as const, ...(schema.enum ?? [])];
    const shown = schema.default === undefined ? options : options.slice(1);
    return (
      <SelectField
        label={name}
        hint={<Prose text={hint} />}
        error={error}
        value={typeof value === 'string' ? value : ''}
        options={shown}
        onChange={(chosen) => onChange(chosen === '' ? undefined : chosen)}
        isDisabled={isDisabled}
      />
    );
  }
  return kind === 'group' ? <GroupField {...props} hint={hint} /> : <TextSetting {...props} hint={hint} />;
}

/** An object with plain members: a field for each. */
function GroupField({ hint, ...field }: SettingFieldProps & { hint: string }) {
  const { name, schema, value, onChange, onReadable, error } = field;
  const members = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return (
    <fieldset class="group">
      <legend>{name}</legend>
      <p class="hint">
        <Prose text={hint} />
      </p>
      {error !== null && <p class="field-error">{error}</p>}
      <div class="group-members">
        {Object.entries(schema.properties ?? {}).map(([member, inner]) => (
          <SettingField
            {...field}
            key={member}
            name={member}
            schema={inner}
            value={members[member]}
            error={null}
            onReadable={(inside, isReadable) => onReadable(`${name}.${inside}`, isReadable)}
            onChange={(next) => {
              const changed = { ...members, [member]: next };
              if (next === undefined) delete changed[member];
              onChange(changed);
            }}
          />
        ))}
      </div>
    </fieldset>
  );
}

/** Keeps what is typed, also while it cannot be read yet. */
function TextSetting({
  name,
  schema,
  value,
  onChange,
  onReadable,
  error,
  isDisabled,
  hint,
}: SettingFieldProps & { hint: string }) {
  const kind = controlOf(schema);
  const stored = settingText(schema, value);
  const [typed, setTyped] = useState<{ text: string; of: string } | null>(null);
  // A value that comes from elsewhere, as after saving, replaces what was typed for another one.
  const text = typed !== null && typed.of === stored ? typed.text : stored;
  const read = settingValue(schema, text);
  const rows =
    kind === 'json' ? Math.min(JSON_ROWS_MAX, Math.max(3, text.split('\n').length)) : kind === 'lines' ? 3 : 1;
  return (
    <TextField
      label={name}
      hint={<Prose text={kind === 'lines' ? `${hint} One per line.` : hint} />}
      error={read.ok ? error : read.error}
      value={text}
      rows={rows}
      isMono={kind !== 'text'}
      isDisabled={isDisabled}
      onInput={(next) => {
        const parsed = settingValue(schema, next);
        onReadable(name, parsed.ok);
        setTyped({ text: next, of: parsed.ok ? settingText(schema, parsed.value) : stored });
        if (parsed.ok) onChange(parsed.value);
      }}
    />
  );
}

/** A sentence of ours in which backticks mark code, as in the descriptions of the API. Not for text of visitors. */
function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}
