/**
 * A form for the settings of an instance or a site. It sends only the members that were changed, and only over the
 * version that it shows: two people who change different members do not undo each other, and of two who change the same
 * one, the second is told.
 */
import { useState } from 'preact/hooks';
import type { Refusal } from '../api/call.ts';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { RefusalNotice } from '../components/page.tsx';
import { changedMembers, type SettingValues } from './draft.ts';
import { saveOver, type SavePorts, type Stored } from './save-over.ts';
import { SettingField } from './setting-field.tsx';
import type { SettingSchemas } from './setting-schema.ts';

export interface SettingsFormProps extends SavePorts {
  schemas: SettingSchemas;
  /** What is stored, as it was loaded. */
  initial: Stored;
  /** Where the service's details name the settings: `settings.` for a site. */
  detailPrefix?: string;
  isDisabled: boolean;
}

export function SettingsForm({ schemas, initial, detailPrefix = '', isDisabled, load, save }: SettingsFormProps) {
  const [{ values: stored, version }, setStored] = useState(initial);
  const [draft, setDraft] = useState<SettingValues>({});
  const [unreadable, setUnreadable] = useState<readonly string[]>([]);
  const [error, setError] = useState<Refusal | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [search, setSearch] = useState('');
  // New fields after saving and discarding, so that none keeps what was typed into it.
  const [generation, setGeneration] = useState(0);
  const startAgain = (): void => {
    setDraft({});
    setUnreadable([]);
    setGeneration((former) => former + 1);
  };
  const current = { ...stored, ...draft };
  const changes = changedMembers(schemas, stored, current);
  const names = Object.keys(changes);
  const errorAt = (name: string): string | null => {
    const path = `${detailPrefix}${name}`;
    const found = error?.details.find((detail) => detail.path === path || detail.path.startsWith(`${path}.`));
    return found === undefined ? null : `${found.path.slice(detailPrefix.length)}: ${found.message}`;
  };
  const isFound = (name: string) =>
    `${name} ${schemas[name]?.description ?? ''}`.toLowerCase().includes(search.trim().toLowerCase());
  const send = async (): Promise<void> => {
    setIsBusy(true);
    const outcome = await saveOver({ values: stored, version }, changes, { load, save });
    setStored(outcome.stored);
    setError(outcome.error);
    if (outcome.error === null) startAgain();
    setIsBusy(false);
  };
  return (
    <form
      class="settings"
      onSubmit={(event) => {
        event.preventDefault();
        if (names.length > 0 && unreadable.length === 0) void send();
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
            onChange={(value) => setDraft((former) => ({ ...former, [name]: value }))}
          />
        </div>
      ))}
      {!isDisabled && (
        <div class="save-bar">
          <span role="status">
            {names.length === 0 ? 'No changes' : `Changed: ${names.join(', ')}`}
            {unreadable.length > 0 && `. Cannot be read: ${unreadable.join(', ')}`}
          </span>
          <Button isDisabled={names.length === 0} onClick={startAgain}>
            Discard
          </Button>
          <Button type="submit" kind="primary" isBusy={isBusy} isDisabled={names.length === 0 || unreadable.length > 0}>
            Save
          </Button>
        </div>
      )}
    </form>
  );
}
