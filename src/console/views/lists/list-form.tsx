/** The form of a list: where it is from, what its entries say, and when a reading counts. */
import { useRef, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';
import { decisions } from '../../../contract/vocabulary.ts';
import { ok } from '../../../result.ts';
import { saveAfterLook } from '../../settings/save-after-look.ts';
import type { List } from './list.ts';
import { changedSettings, draftOf, formats, type ListDraft, settingsOf } from './list-draft.ts';

export interface ListFormProps {
  site: { siteKey?: string };
  /** `null`: a new one. */
  list: List | null;
  onClose: () => void;
  onSaved: (list: List) => void;
}

const URL_MAX_CHARS = 2048;

export function ListForm({ site, list, onClose, onSaved }: ListFormProps) {
  const [name, setName] = useState(list?.name ?? '');
  const [draft, setDraft] = useState<ListDraft>(() => draftOf(list));
  const [header, setHeader] = useState({ name: '', value: '' });
  const [isHeaderRemoved, setIsHeaderRemoved] = useState(false);
  // The form shows what was stored when it was opened, while the page behind it goes on.
  const shown = useRef(list).current;
  const known = useRef(list);
  const write = (change: Partial<ListDraft>) => setDraft((former) => ({ ...former, ...change }));
  const typed =
    header.name.trim() === '' && header.value === '' ? undefined : { header: header.name.trim(), value: header.value };
  // A file is not fetched, so what was typed for a fetch does not count.
  const isFile = draft.url.trim() === '';
  const authorization = isFile ? undefined : isHeaderRemoved ? null : typed;
  const secret = authorization === undefined ? {} : { authorization };
  const send = () => {
    if (shown === null)
      return call('/protect/lists/create', { ...site, name: name.trim(), ...settingsOf(draft), ...secret });
    const changes = { ...changedSettings(shown, draft), ...secret };
    return saveAfterLook(known as { current: List }, changes, {
      load: async () => {
        const answer = await call('/protect/lists', site);
        if (!answer.ok) return answer;
        return ok(answer.value.lists.find((one) => one.name === shown.name) ?? shown);
      },
      save: () => call('/protect/lists/update', { ...site, name: shown.name, ...changes }),
    });
  };
  const hasHeader = shown?.hasAuthorization === true;
  return (
    <CreateDialog
      title={shown === null ? 'Add a list' : `Change ${shown.name}`}
      verb={shown === null ? 'Add' : 'Save'}
      isWide
      isComplete={name.trim() !== '' && draft.intervalMinutes.trim() !== '' && draft.maxChangePercent.trim() !== ''}
      send={send}
      onMade={onSaved}
      onClose={onClose}
    >
      {shown === null && (
        <TextField
          label="Name"
          isMono
          placeholder="spamhaus-drop"
          maxLength={48}
          hint="Small letters, digits and hyphens. Verdicts say list: and this name."
          value={name}
          onInput={setName}
        />
      )}
      <TextField
        label="Address"
        type="url"
        isMono
        maxLength={URL_MAX_CHARS}
        hint="https, with a public host name, as in https://www.spamhaus.org/drop/drop.txt. Empty: the list is a file that you replace as a whole."
        value={draft.url}
        onInput={(url) => write({ url })}
      />
      <SelectField label="Format" value={draft.format} options={formats} onChange={(format) => write({ format })} />
      {draft.format === 'csv' && (
        <TextField
          label="Column"
          hint="Its name, or its number from 1 in a file without a heading."
          maxLength={64}
          value={draft.column}
          onInput={(column) => write({ column })}
        />
      )}
      {(draft.format === 'json' || draft.format === 'ndjson') && (
        <TextField
          label="Selector"
          isMono
          placeholder="data[].ip"
          hint="Where the values are: names with dots, [] for every item."
          maxLength={256}
          value={draft.selector}
          onInput={(selector) => write({ selector })}
        />
      )}
      <SelectField
        label="Its entries say"
        value={draft.verdict}
        options={decisions.map((one) => [one, one] as const)}
        onChange={(verdict) => write({ verdict })}
      />
      {!isFile && (
        <>
          <TextField
            label="Minutes between fetches"
            hint="5 to 10,080, which is a week."
            type="number"
            value={draft.intervalMinutes}
            onInput={(intervalMinutes) => write({ intervalMinutes })}
          />
          <fieldset>
            <legend>Header for every fetch</legend>
            <div class="stack">
              <TextField
                label="Name of the header"
                placeholder="X-Api-Key"
                isMono
                maxLength={64}
                isDisabled={isHeaderRemoved}
                value={header.name}
                onInput={(text) => setHeader({ ...header, name: text })}
              />
              <TextField
                label="Value of the header"
                hint={
                  hasHeader
                    ? 'One is stored and is never shown. Empty: it stays, unless the list moves to another host.'
                    : 'It is stored encrypted, and never shown again.'
                }
                isMono
                maxLength={1024}
                isDisabled={isHeaderRemoved}
                value={header.value}
                onInput={(text) => setHeader({ ...header, value: text })}
              />
              {hasHeader && (
                <CheckField
                  label="Remove the stored header"
                  isChecked={isHeaderRemoved}
                  onChange={setIsHeaderRemoved}
                />
              )}
            </div>
          </fieldset>
        </>
      )}
      <TextField
        label="Hours without a good reading until it has no effect"
        hint="Empty: the last good reading stays in force."
        type="number"
        value={draft.expiryHours}
        onInput={(expiryHours) => write({ expiryHours })}
      />
      <TextField
        label="Largest change of a reading, in percent"
        hint="A reading that adds or removes more of the list is not taken. 100: any is."
        type="number"
        value={draft.maxChangePercent}
        onInput={(maxChangePercent) => write({ maxChangePercent })}
      />
      <CheckField
        label="Take private and other reserved networks too"
        isChecked={draft.includeReserved}
        onChange={(includeReserved) => write({ includeReserved })}
      />
    </CreateDialog>
  );
}
