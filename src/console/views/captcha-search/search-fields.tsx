/** The fields of a search for captcha records. All of them must match. */
import { SelectField, TextField } from '../../components/field.tsx';
import { FilterForm, optionsOf } from '../../components/filter-form.tsx';
import { useDraft, useParams } from '../../url/params.ts';
import { deviceTypes } from '../../../contract/vocabulary.ts';
import { chosenSite, siteOptions, type SiteList } from '../captchas/sites.ts';
import { DETECTORS, flagCriteria, searchParams, textCriteria } from './search-form.ts';

const selects = [
  ['type', 'Type', optionsOf('any', ['pow', 'image', 'puzzle', 'blocked'])],
  ['status', 'Status', optionsOf('any', ['Approved', 'Pending', 'Disapproved'])],
  ['deviceType', 'Device', optionsOf('any', deviceTypes)],
  ['policyType', 'Policy', optionsOf('any', ['block', 'restrict'])],
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
  const { textOf, write, typed } = useDraft(texts);
  const field = (name: string, label: string) => (
    <TextField
      key={name}
      label={label}
      isMono
      maxLength={1024}
      value={textOf(name)}
      onInput={(text) => write(name, text)}
    />
  );
  const isFiltered = Object.keys(cleared).some((name) => params[name] !== undefined);
  return (
    <FilterForm
      verb="Search"
      onSubmit={() => change({ ...typed(), ...firstPage })}
      onClear={isFiltered ? () => change({ ...cleared, ...firstPage }) : null}
    >
      <SelectField
        label="Site"
        value={chosenSite(params) ?? ''}
        options={siteOptions(sites)}
        onChange={(captchaSite) => change({ ...typed(), captchaSite, ...firstPage })}
      />
      {selects.map(([name, label, options]) => (
        <SelectField<string>
          key={name}
          label={label}
          value={params[name] ?? ''}
          options={options}
          onChange={(value) => change({ ...typed(), [name]: value, ...firstPage })}
        />
      ))}
      {textCriteria.map(([name, label]) => field(name, label))}
      {field(DETECTORS, 'Detectors, by commas')}
    </FilterForm>
  );
}
