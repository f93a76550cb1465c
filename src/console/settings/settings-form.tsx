/**
 * A form for the settings of an instance or a site. It sends only the members that were changed, and only over the
 * version that it shows: two people who change different members do not undo each other, and of two who change the same
 * one, the second is told.
 */
import { useState } from 'preact/hooks';
import { TextField } from '../components/field.tsx';
import { RefusalNotice, Section } from '../components/page.tsx';
import { Chip } from '../components/values.tsx';
import { SettingField } from './setting-fields.tsx';
import type { SettingSchema, SettingSchemas } from './setting-schema.ts';
import { type SettingGroup, settingLabel, valueText } from './setting-words.ts';
import { SaveBar, type SavedProps, useSaved } from './use-saved.tsx';

export interface SettingsFormProps extends SavedProps {
  groups: readonly SettingGroup[];
  schemas: SettingSchemas;
  /** Where the service's details name the settings: `settings.` for a site. */
  detailPrefix?: string;
  isDisabled: boolean;
}

export function SettingsForm({ groups, schemas, detailPrefix = '', isDisabled, ...props }: SettingsFormProps) {
  const [unreadable, setUnreadable] = useState<readonly string[]>([]);
  const [search, setSearch] = useState('');
  // New fields after saving and discarding, so that none keeps what was typed into it.
  const [generation, setGeneration] = useState(0);
  const onFresh = (): void => {
    setUnreadable([]);
    setGeneration((former) => former + 1);
  };
  const inForm = groups.flatMap(({ settings }) => Object.keys(settings));
  const saved = useSaved(inForm, { ...props, labelOf: settingLabel, onFresh });
  const { current, error, stored } = saved;
  const names = Object.keys(saved.changes);
  const refused = (error?.details ?? []).map(({ path, message }) => ({
    path: path.slice(path.startsWith(detailPrefix) ? detailPrefix.length : 0).replace(/\[(\d+)\]/g, '.$1'),
    message,
  }));
  const inWords = refused.map(({ path, message }) => ({ path: settingLabel(path), message }));
  const wanted = search.trim().toLowerCase();
  const isFound = (name: string) =>
    wordsOf(name, schemas[name] ?? {})
      .toLowerCase()
      .includes(wanted);
  return (
    <form
      class="settings"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (names.length > 0 && unreadable.length === 0) void saved.save();
      }}
    >
      <TextField label="Find a setting" type="search" value={search} onInput={setSearch} />
      <RefusalNotice error={error && { ...error, details: inWords }} isInWords />
      {groups.map(({ title, settings }) => {
        const members = Object.keys(settings);
        return (
          <div key={title} hidden={!members.some(isFound)}>
            <Section title={title}>
              {members.map((name) => (
                <div
                  key={`${generation} ${name}`}
                  class="setting"
                  data-changed={names.includes(name)}
                  hidden={!isFound(name)}
                >
                  {names.includes(name) && <Chip tone="info">{`Changed${formerText(stored[name])}`}</Chip>}
                  <SettingField
                    path={name}
                    schema={schemas[name] ?? {}}
                    value={current[name]}
                    refused={refused}
                    isDisabled={isDisabled}
                    onReadable={(field, isReadable) =>
                      setUnreadable((former) => [
                        ...former.filter((one) => one !== field),
                        ...(isReadable ? [] : [field]),
                      ])
                    }
                    onChange={(value) => saved.change({ [name]: value })}
                  />
                </div>
              ))}
            </Section>
          </div>
        );
      })}
      {!groups.some(({ settings }) => Object.keys(settings).some(isFound)) && <p>No setting has “{search.trim()}”.</p>}
      {!isDisabled && (
        <SaveBar
          saved={saved}
          text={`${names.length === 0 ? 'No changes' : `Changed: ${labelsOf(names)}`}${
            unreadable.length === 0 ? '' : `. Cannot be read: ${labelsOf(unreadable)}`
          }`}
          isReadable={unreadable.length === 0}
        />
      )}
    </form>
  );
}

const labelsOf = (paths: readonly string[]): string => paths.map(settingLabel).join(', ');

/** What a search for a setting looks through: its words, its names in the API, and those of its parts. */
function wordsOf(path: string, { description = '', properties, items }: SettingSchema): string {
  const parts = Object.entries({ ...properties, ...items?.properties });
  const inner = parts.map(([name, part]) => wordsOf(`${path}.${name}`, part));
  return [settingLabel(path), path, description, ...inner].join(' ');
}

/** What a plain value was before. */
function formerText(value: unknown): string {
  if (typeof value === 'boolean') return value ? ', was on' : ', was off';
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
    ? `, was ${valueText(String(value))}`
    : '';
}
