/** The fields of a search for captcha records. All of them must match. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { useParams } from '../../url/params.ts';
import { deviceTypes } from '../../../contract/vocabulary.ts';
import { chosenSite, siteOptions } from '../captchas/sites.ts';
import type { SiteList } from '../captchas/sites.ts';
import { DETECTORS, flagCriteria, searchParams, textCriteria } from './search-form.ts';

const any = <Value extends string>(values: readonly Value[]) =>
  [['', 'any'] as const, ...values.map((value) => [value, value] as const)] as const;
const selects = [
  ['type', 'Type', any(['pow', 'image', 'puzzle', 'blocked'])],
  ['status', 'Status', any(['Approved', 'Pending', 'Disapproved'])],
  ['deviceType', 'Device', any(deviceTypes)],
  ['policyType', 'Policy', any(['block', 'restrict'])],
  ...flagCriteria.map(
    ([name, label]) =>
      [name, label, [['', 'any'] as const, ['true', 'yes'] as const, ['false', 'no'] as const] as const] as const,
  ),
] as const;

/** A new search begins with its newest page. */
const firstPage = { lastId: null, lastTimestamp: null, record: null } as const;
const cleared = Object.fromEntries([...searchParams, 'captchaSite'].map((name) => [name, null]));
const texts = [...textCriteria.map(([name]) => name), DETECTORS];

export function SearchFields({ sites }: { sites: SiteList | null }) {
  const [params, change] = useParams();
  const [draft, setDraft] = useState<Record<string, string>>({ ...params });
  // The address also changes by the back button.
  useEffect(() => setDraft({ ...params }), [JSON.stringify(params)]);
  const field = (name: string, label: string) => (
    <TextField
      key={name}
      label={label}
      isMono
      maxLength={1024}
      value={draft[name] ?? ''}
      onInput={(value) => setDraft({ ...draft, [name]: value })}
    />
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change({ ...Object.fromEntries(texts.map((name) => [name, draft[name]?.trim() ?? null])), ...firstPage });
      }}
    >
      <div class="filters">
        <SelectField
          label="Site"
          value={chosenSite(params) ?? ''}
          options={siteOptions(sites)}
          onChange={(captchaSite) => change({ captchaSite, ...firstPage })}
        />
        {selects.map(([name, label, options]) => (
          <SelectField<string>
            key={name}
            label={label}
            value={params[name] ?? ''}
            options={options}
            onChange={(value) => change({ [name]: value, ...firstPage })}
          />
        ))}
        {textCriteria.map(([name, label]) => field(name, label))}
        {field(DETECTORS, 'Detectors, by commas')}
        <div class="actions">
          <Button type="submit" kind="primary">
            Search
          </Button>
          {[...searchParams, 'captchaSite'].some((name) => params[name]) && (
            <Button kind="quiet" onClick={() => change({ ...cleared, ...firstPage })}>
              Clear
            </Button>
          )}
        </div>
      </div>
    </form>
  );
}
