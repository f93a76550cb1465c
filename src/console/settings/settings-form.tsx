/**
 * A form for the settings of an instance or a site. It sends only the members that were changed, and only over the
 * version that it shows: two people who change different members do not undo each other, and of two who change the same
 * one, the second is told.
 */
import { useState } from 'preact/hooks';
import { TextField } from '../components/field.tsx';
import { RefusalNotice } from '../components/page.tsx';
import { SettingField } from './setting-field.tsx';
import type { SettingSchemas } from './setting-schema.ts';
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
