/** The filters of the verdict list. Every one is in the address. */
import { useEffect, useState } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { count } from '../../format/numbers.ts';
import { instances, siteOf } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import type { TimeWindow } from '../../url/window.ts';
import { decisions, deviceTypes, verdictSources } from '../../../contract/vocabulary.ts';

/** Text filters: parameter → label and an example. */
const texts = [
  ['ip', 'Address', '192.0.2.1'],
  ['jti', 'Session', ''],
  ['path', 'Path', '/signup or /api/*'],
  ['rule', 'Rule that fired', 'userAgent:badbot'],
  ['asn', 'AS number', '64496'],
] as const;

const choices = <Value extends string>(all: string, values: readonly Value[]) =>
  [['', all] as const, ...values.map((value) => [value, value] as const)] as const;

export function Filters({ window: { since, until } }: { window: TimeWindow }) {
  const [params, change] = useParams();
  const body = instances.value.list === null ? null : { ...siteOf(params), since, until };
  const sources = useCall('/protect/verdicts/distinct-sources', body);
  const rules = useCall('/protect/verdicts/distinct-fired-rules', body);
  const countOf = new Map(sources.value?.sources.map(({ source, total }) => [source, total]));
  const named = (source: string) => (countOf.has(source) ? `${source} (${count(countOf.get(source) ?? 0)})` : source);
  const [draft, setDraft] = useState<Record<string, string>>({ ...params });
  // The address also changes by the back button.
  useEffect(() => setDraft({ ...params }), [JSON.stringify(params)]);
  const isFiltered = [...texts.map(([name]) => name), 'decision', 'source', 'device'].some((name) => params[name]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change({ ...Object.fromEntries(texts.map(([name]) => [name, draft[name]?.trim() ?? null])), cursor: null });
      }}
    >
      <div class="filters">
        <SelectField
          label="Decision"
          value={params['decision'] ?? ''}
          options={choices('any', decisions)}
          onChange={(decision) => change({ decision, cursor: null })}
        />
        <SelectField
          label="Source"
          value={params['source'] ?? ''}
          options={[['', 'any'], ...verdictSources.map((source) => [source, named(source)] as const)]}
          onChange={(source) => change({ source, cursor: null })}
        />
        <SelectField
          label="Device"
          value={params['device'] ?? ''}
          options={choices('any', deviceTypes)}
          onChange={(device) => change({ device, cursor: null })}
        />
        {texts.map(([name, label, placeholder]) => (
          <TextField
            key={name}
            label={label}
            placeholder={placeholder}
            isMono
            {...(name === 'rule' ? { suggestions: rules.value?.firedRules.map(({ id }) => id) ?? [] } : {})}
            value={draft[name] ?? ''}
            onInput={(value) => setDraft({ ...draft, [name]: value })}
          />
        ))}
        <div class="actions">
          <Button type="submit" kind="primary">
            Filter
          </Button>
          {isFiltered && (
            <Button
              kind="quiet"
              onClick={() =>
                change({
                  ...Object.fromEntries(texts.map(([name]) => [name, null])),
                  decision: null,
                  source: null,
                  device: null,
                  cursor: null,
                })
              }
            >
              Clear
            </Button>
          )}
        </div>
      </div>
    </form>
  );
}
