/** The form of a list: where it is from, what its entries say, and when a reading counts. */
import { useRef, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { CheckField } from '../../components/field.tsx';
import { decisions } from '../../../contract/vocabulary.ts';
import { ok } from '../../../result.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { saveAfterLook } from '../../settings/save-over.ts';
import { rangeText } from '../../settings/setting-schema.ts';
import { addressRule } from '../../settings/address-rule.ts';
import { useForm } from '../../settings/form.tsx';
import { changedSettings, formats, isFile, type List, listDraftOf, listSchemas, settingsOf } from './list-draft.ts';

export interface ListFormProps {
  site: { siteKey?: string };
  /** `null`: a new one. */
  list: List | null;
  onClose: () => void;
  onSaved: (list: List) => void;
}

const { header: headerName, value: headerValue } = forms.listHeader;
/** Without both, no header is sent. */
const headerSchemas = {
  header: { ...headerName, isRequired: false },
  value: { ...headerValue, isRequired: false },
};

const INTERVAL_HINT = `${rangeText(forms.list.intervalMinutes)}, which is a week.`;

export function ListForm({ site, list, onClose, onSaved }: ListFormProps) {
  const form = useForm(listDraftOf(list), listSchemas);
  const secretHeader = useForm({ header: '', value: '' }, headerSchemas);
  const [isHeaderRemoved, setIsHeaderRemoved] = useState(false);
  // The form shows what was stored when it was opened, while the page behind it goes on.
  const shown = useRef(list).current;
  const known = useRef(list);
  const { draft } = form;
  const { value } = secretHeader.draft;
  const header = secretHeader.draft.header.trim();
  const typed = header === '' && value === '' ? undefined : { header, value };
  // A file is not fetched, so what was typed for a fetch does not count.
  const isFetched = !isFile(draft);
  const authorization = !isFetched ? undefined : isHeaderRemoved ? null : typed;
  const secret = authorization === undefined ? {} : { authorization };
  const send = () => {
    if (shown === null)
      return call('/protect/lists/create', { ...site, name: draft.name.trim(), ...settingsOf(draft), ...secret });
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
      isComplete={form.isComplete && ((authorization ?? null) === null || secretHeader.isComplete)}
      send={send}
      onMade={onSaved}
      onClose={onClose}
    >
      {form.fields([
        shown === null && {
          name: 'name',
          label: 'Name',
          isMono: true,
          placeholder: 'spamhaus-drop',
          hint: 'Small letters, digits and hyphens. Verdicts say list: and this name.',
        },
        {
          name: 'url',
          label: 'Address',
          type: 'url',
          isMono: true,
          hint: `${addressRule()}, as in https://www.spamhaus.org/drop/drop.txt. Empty: the list is a file that you replace as a whole.`,
        },
        { name: 'format', label: 'Format', options: formats },
        draft.format === 'csv' && {
          name: 'column',
          label: 'Column',
          hint: 'Its name, or its number from 1 in a file without a heading.',
        },
        (draft.format === 'json' || draft.format === 'ndjson') && {
          name: 'selector',
          label: 'Selector',
          isMono: true,
          placeholder: 'data[].ip',
          hint: 'Where the values are: names with dots, [] for every item.',
        },
        { name: 'verdict', label: 'Its entries say', options: decisions },
        isFetched && { name: 'intervalMinutes', label: 'Minutes between fetches', hint: INTERVAL_HINT },
      ])}
      {isFetched && (
        <fieldset>
          <legend>Header for every fetch</legend>
          <div class="stack">
            {secretHeader.fields([
              {
                name: 'header',
                label: 'Name of the header',
                placeholder: 'X-Api-Key',
                isMono: true,
                isDisabled: isHeaderRemoved,
              },
              {
                name: 'value',
                label: 'Value of the header',
                hint: hasHeader
                  ? 'One is stored and is never shown. Empty: it stays, unless the list moves to another host.'
                  : 'It is stored encrypted, and never shown again.',
                isMono: true,
                isDisabled: isHeaderRemoved,
              },
            ])}
            {hasHeader && (
              <CheckField label="Remove the stored header" isChecked={isHeaderRemoved} onChange={setIsHeaderRemoved} />
            )}
          </div>
        </fieldset>
      )}
      {form.fields([
        {
          name: 'expiryHours',
          label: 'Hours without a good reading until it has no effect',
          hint: 'Empty: the last good reading stays in force.',
        },
        {
          name: 'maxChangePercent',
          label: 'Largest change of a reading, in percent',
          hint: 'A reading that adds or removes more of the list is not taken. 100: any is.',
        },
        { name: 'includeReserved', label: 'Take private and other reserved networks too' },
      ])}
    </CreateDialog>
  );
}
