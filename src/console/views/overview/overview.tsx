/** The first view: how much traffic came, what the gate decided, and where it came from. */
import { useCall } from '../../api/call.ts';
import { ChoiceField } from '../../components/choice.tsx';
import { Load, Page, Section } from '../../components/page.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { DecisionSeries } from '../../components/time-series.tsx';
import { instances, instancesLoaded, shownInstance, siteParam, type Instance } from '../../frame/instances.ts';
import { addressOf, type Params, useParams, useWindow } from '../../url/params.ts';
import { OwnCallsSwitch } from '../verdicts/own-calls.tsx';
import { shownSources, showsOwnCalls, valuesOf } from '../verdicts/verdict-filters.ts';
import { HealthLine } from '../health/health-line.tsx';
import { TrafficFigures } from './figures.tsx';
import { TopList } from './top-list.tsx';
import { breakdownBody, sourceFilter, summaryBody, type Dimension } from './overview-body.ts';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const countries = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

/** What is listed: the dimension, and the parameter of the verdict list that finds its values. */
const lists: readonly {
  groupBy: Dimension;
  title: string;
  none: string;
  param: string | null;
  nameOf?: (value: string) => string;
}[] = [
  { groupBy: 'country', title: 'Countries', none: 'unknown', param: null, nameOf: countryName },
  { groupBy: 'asn', title: 'Networks', none: 'unknown', param: 'asn', nameOf: (asn) => `AS${asn}` },
  { groupBy: 'fired_rule', title: 'Rules that fired', none: 'no rule', param: 'rule' },
  { groupBy: 'source', title: 'Reasons', none: 'none', param: 'source' },
  { groupBy: 'request_path', title: 'Paths', none: 'none', param: 'path' },
  { groupBy: 'user_agent', title: 'User agents', none: 'no user agent', param: 'q' },
  { groupBy: 'bot', title: 'Bots', none: 'no bot', param: 'bot' },
];

function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? `${countries.of(code) ?? code} (${code})` : code;
}

export default function Overview() {
  const [params, change] = useParams();
  const window = useWindow();
  const { since, until } = window;
  const decision = params['decision'] ?? null;
  const instance = shownInstance(params);
  const isFirstRun = useIsFirstRun(instance);
  const hasInstance = instance !== null && !isFirstRun;
  const now = useCall('/protect/traffic-summary', hasInstance ? summaryBody(params, window) : null);
  // A browser has six connections to the service. The figures come first, whatever else the view asks for.
  const isAnswered = now.value !== null || now.error !== null;
  const before = useCall(
    '/protect/traffic-summary',
    hasInstance && isAnswered ? summaryBody(params, { ...window, since: since - (until - since), until: since }) : null,
  );
  // The log has no index of user agents, and says elsewhere what it knows about one.
  const toVerdicts = (param: string) => (value: string) =>
    param === 'q'
      ? addressOf('/console/find', { ...siteParam(params), q: value, kind: 'user-agent' })
      : addressOf('/console/verdicts', { ...seenAlike(params), ...siteParam(params), [param]: value });
  return (
    <Page
      title="Overview"
      lead={
        isFirstRun ? (
          'No request of a visitor has arrived yet. These steps lead there.'
        ) : instance === null || !isAnswered ? (
          '\u00a0'
        ) : (
          <HealthLine key={instance.id} instance={instance} site={siteParam(params)} />
        )
      }
      actions={
        !isFirstRun && (
          <>
            <OwnCallsSwitch />
            <RangePicker window={window} />
          </>
        )
      }
    >
      <Load of={{ ...instancesLoaded(), calls: [] }} />
      <Load of={now} />
      {isFirstRun && <FirstRun />}
      {hasInstance && (
        <>
          <AttackMode key={instance.id} instance={instance} />
          <TrafficFigures
            now={now.value}
            before={before.value}
            hrefOf={(chosen) => addressOf('/console', { ...params, decision: chosen })}
            chosen={decision}
          />
          <Section
            title="Requests by decision"
            actions={
              <ChoiceField
                label={sourceFilter.label}
                options={shownSources(params)}
                chosen={valuesOf(sourceFilter, params).map(String)}
                onChange={(chosen) => change({ source: chosen.join(',') })}
              />
            }
          >
            <DecisionSeries title="Requests by decision over time" window={window} value={now.value} />
          </Section>
          <p class="soft">
            {decision === null
              ? `Of every request${showsOwnCalls(params) ? ', the gate’s own calls included' : ' of visitors'}. Choose a number above to see only what was allowed, challenged or blocked.`
              : `Only of what was decided: ${decision}.`}
          </p>
          <div class="columns">
            {lists.map(({ groupBy, title, none, param, nameOf }) => (
              <TopList
                key={groupBy}
                title={title}
                body={isAnswered ? breakdownBody(groupBy, params, window) : null}
                none={none}
                {...(nameOf === undefined ? {} : { nameOf })}
                {...(param === null ? {} : { hrefOf: toVerdicts(param) })}
              />
            ))}
          </div>
        </>
      )}
    </Page>
  );
}

/** A link keeps the time and the decision of the view, and whose requests it shows. */
function seenAlike({ range, from, to, decision, internal }: Params): Record<string, string | undefined> {
  return { range, from, to, decision, internal };
}

const RETRY_MS = 3000;

/**
 * Whether no visitor's request ever arrived. It stays so until the view is left: people who follow the guide go on with
 * the steps after the first request.
 */
function useIsFirstRun(instance: Instance | null): boolean {
  const newest = useCall(
    '/protect/verdicts',
    instance === null ? null : { siteKey: instance.globalSiteKey, limit: 1, includeInternal: false },
  );
  // Nothing else on the page would tell somebody who has no traffic that this call failed.
  useEffect(() => {
    if (newest.error === null) return;
    const timer = setTimeout(newest.reload, RETRY_MS);
    return () => clearTimeout(timer);
  }, [newest.error]);
  const id = instance?.id ?? null;
  const isEmpty = id === null ? instances.value.list !== null : newest.value?.verdicts.length === 0;
  // `null`: it began without any instance, and the one that came since belongs to it.
  const [began, setBegan] = useState<string | null | undefined>();
  useEffect(() => {
    if (isEmpty) setBegan((former) => (former === null ? null : id));
  }, [isEmpty, id]);
  return isEmpty || began === null || (began !== undefined && began === id);
}

/** A part of the view that is not for the first moment. `null`: it is not loaded yet. */
function useLater<Props>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> | null {
  const [Part, setPart] = useState<ComponentType<Props> | null>(null);
  useEffect(() => {
    load().then(
      (part) => setPart(() => part),
      // The part has a page of its own, which still leads there once the network is back.
      () => undefined,
    );
  }, []);
  return Part;
}

function AttackMode({ instance }: { instance: Instance }) {
  const Notice = useLater(async () => (await import('../attack/attack-notice.tsx')).AttackNotice);
  return Notice === null ? <div class="attack-off" /> : <Notice instance={instance} isAlways />;
}

/** The installation guide in place of an overview without anything to show. Loaded only then. */
function FirstRun() {
  const Steps = useLater(async () => (await import('../guide/guide.tsx')).Installation);
  return Steps === null ? <a href="/console/guide">Installation guide</a> : <Steps />;
}
