/** Captchas of the account's sites: how many, and what became of them, by hour or day; and what is going on now. */
import { useCall } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { SelectField } from '../../components/field.tsx';
import { EmptyState, Load, Page, Section } from '../../components/page.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { percent } from '../../format/numbers.ts';
import { Figures } from '../overview/figures.tsx';
import { siteParam } from '../../frame/instances.ts';
import { addressOf, type Params, type TimeWindow, useParams, useWindow } from '../../url/params.ts';
import { ViewTabs } from '../../components/tabs.tsx';
import { LiveSessions } from './live-sessions.tsx';
import { chosenSite, ignoredFields, siteOptions, useSites } from './sites.ts';
import { TrafficChart, TrafficTable, countsOf, kinds, type CaptchaKind, type TrafficRow } from './traffic.tsx';

const kindNames: Record<CaptchaKind, string> = {
  all: 'every kind',
  pow: 'proof of work',
  image: 'images',
  puzzle: 'puzzles',
};

export default function Captchas() {
  const [params, change] = useParams();
  const window = useWindow();
  const sites = useSites();
  const loaded = useCall('/gettrafficdata', trafficBody(params, window));
  const { value } = loaded;
  const kind = kinds.find((one) => one === params['kind']) ?? 'all';
  const site = chosenSite(params);
  return (
    <Page
      title="Captchas"
      lead="Captchas by the hour they were issued in; beyond seven days, by the day. UTC."
      actions={<RangePicker window={window} />}
    >
      <ViewTabs of="Captchas" />
      <div class="filters">
        <SelectField
          label="Site"
          value={site ?? ''}
          options={[['', 'every site'], ...siteOptions(sites.value)]}
          onChange={(captchaSite) => change({ captchaSite })}
        />
        <SelectField
          label="Kind"
          value={kind}
          options={kinds.map((one) => [one, kindNames[one]] as const)}
          onChange={(chosen) => change({ kind: chosen === 'all' ? null : chosen })}
        />
      </div>
      <Load of={{ ...sites, calls: [] }} />
      <Load of={loaded} />
      <Totals rows={value ?? []} kind={kind} isLoaded={value !== null} />
      <Section title={window.until - window.since > WEEK_MS ? 'By day' : 'By hour'}>
        {value !== null && value.every(({ total, blocked }) => total + blocked === 0) ? (
          <EmptyState title="No captcha in this window">
            <p>
              A captcha appears here when a widget of the site asks for one.{' '}
              <a href={addressOf('/console/sites', siteParam(params))}>Sites</a> shows how to place it.
            </p>
          </EmptyState>
        ) : (
          <div class="stack">
            <TrafficChart rows={value ?? []} kind={kind} window={window} />
            <TrafficTable rows={value ?? []} kind={kind} />
          </div>
        )}
      </Section>
      <LiveSessions body={site === undefined ? null : liveBody(site)} />
    </Page>
  );
}

const WEEK_MS = 7 * 86_400_000;

function trafficBody(params: Params, { since, until }: TimeWindow): RequestOf<'/gettrafficdata'> {
  const site = chosenSite(params);
  return {
    ...ignoredFields(),
    startDate: new Date(since).toISOString(),
    endDate: new Date(until).toISOString(),
    ...(site === undefined ? {} : { siteKeys: [site] }),
  };
}

function liveBody(siteKey: string): RequestOf<'/getlivesessions'> {
  return { ...ignoredFields(), siteKey, windowMinutes: 60, bucketSeconds: 60 };
}

function Totals({ rows, kind, isLoaded }: { rows: readonly TrafficRow[]; kind: CaptchaKind; isLoaded: boolean }) {
  const sum = (of: (row: TrafficRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const total = sum((row) => countsOf(row, kind).total);
  const figures = [
    ['Issued', total, ''],
    ['Approved', sum((row) => countsOf(row, kind).approved), 'of issued'],
    ['Disapproved', sum((row) => countsOf(row, kind).disapproved), 'of issued'],
    ['Without a solution', sum((row) => countsOf(row, kind).pending), 'of issued'],
    ['Verified by a backend', sum((row) => countsOf(row, kind).verifications), 'of issued'],
    ['Blocked before a captcha', sum(({ blocked }) => blocked), kind === 'all' ? '' : 'of every kind'],
  ] as const;
  return (
    <Figures
      figures={figures.map(([name, value, of]) => ({
        name,
        value: isLoaded ? value : null,
        hint: of === 'of issued' ? `${percent(value, total)} ${of}` : of || '\u00a0',
      }))}
    />
  );
}
