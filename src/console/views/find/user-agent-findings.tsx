/**
 * What is known about a user agent: what the rules say about it now, how often the most frequent ones that contain it
 * came, and its verdicts among the newest.
 */
import { together, useCall } from '../../api/call.ts';
import type { RequestOf, ResponseOf } from '../../api/service-api.ts';
import { DecisionChip, VisitorText } from '../../components/values.tsx';
import { Load, Page, Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { count } from '../../format/numbers.ts';
import { siteOf, siteParam, whenKnown } from '../../frame/instances.ts';
import { addressOf, bucketSecondsOf, type Params, useParams, useWindow } from '../../url/params.ts';
import { OwnCallsSwitch } from '../verdicts/own-calls.tsx';
import { showsOwnCalls } from '../verdicts/verdict-filters.ts';
import { VerdictTable } from '../verdicts/verdict-table.tsx';

/** Some hundred kilobytes: what a person waits for. */
const LOOKED_THROUGH = 1000;
const MOST_FREQUENT = 100;
const TEXT_MAX_CHARS = 90;

export function UserAgentFindings({ userAgent }: { userAgent: string }) {
  const [params] = useParams();
  const window = useWindow();
  const site = siteOf(params);
  const { since, until } = window;
  const includeInternal = showsOwnCalls(params);
  const countsBody: RequestOf<'/protect/traffic-by-dimension'> = {
    ...site,
    includeInternal,
    since,
    until,
    bucket: bucketSecondsOf(window),
    groupBy: 'user_agent',
    topN: MOST_FREQUENT,
  };
  const explained = useCall('/protect/access-rules/explain', whenKnown({ ...site, userAgent }));
  const newest = useCall('/protect/verdicts', whenKnown({ ...site, limit: LOOKED_THROUGH, includeInternal }));
  const counts = useCall('/protect/traffic-by-dimension', whenKnown(countsBody));
  const folded = userAgent.toLowerCase();
  const contains = (text: string | null): boolean => text !== null && text.toLowerCase().includes(folded);
  const found = newest.value?.verdicts.filter((verdict) => contains(verdict.user_agent)) ?? [];
  return (
    <Page title="Find a user agent" lead={<VisitorText text={userAgent} maxChars={300} />} actions={<OwnCallsSwitch />}>
      <Load of={together<readonly unknown[]>(explained, newest, counts)} />
      <p class="hint">
        The log keeps no index of user agents, so not every verdict can be found by one. A rule for it finds every later
        request in which it fires.
      </p>
      <Section title="What the rules say about it now">
        {explained.value !== null && <Explained explained={explained.value} params={params} />}
      </Section>
      <Section title="Verdicts">
        <p class="soft" role="status">
          {newest.value === null
            ? 'Looking through the newest verdicts…'
            : `${count(found.length)} of the newest ${count(newest.value.verdicts.length)} verdicts, of ${count(newest.value.total)} in all.`}
        </p>
        {found.length > 0 && <VerdictTable verdicts={found} />}
      </Section>
      <Section title="How often it came, last 24 hours">
        {counts.value !== null && <Frequent breakdown={counts.value} contains={contains} />}
      </Section>
    </Page>
  );
}

function Explained({ explained, params }: { explained: ResponseOf<'/protect/access-rules/explain'>; params: Params }) {
  const { decision, decidedBy, firedRules } = explained;
  return (
    <div class="stack">
      <p>
        <DecisionChip decision={decision} /> by <VisitorText text={decidedBy} maxChars={120} />, from an address that no
        rule names.
      </p>
      {firedRules.length === 0 ? (
        <p class="soft">No rule matches it.</p>
      ) : (
        <ul class="plain-list">
          {firedRules.map(({ id, type, verdict, mode }) => (
            <li key={id}>
              <DecisionChip decision={verdict} /> {mode === 'monitor' && 'only monitored '}
              <VisitorText text={id} maxChars={120} />{' '}
              <a href={addressOf('/console/verdicts', { ...siteParam(params), rule: id, range: '30d' })}>
                Its verdicts
              </a>{' '}
              <a href={addressOf('/console/rules', { ...siteParam(params), type, value: id.slice(type.length + 1) })}>
                The rule
              </a>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Frequent({
  breakdown: { series },
  contains,
}: {
  breakdown: ResponseOf<'/protect/traffic-by-dimension'>;
  contains: (text: string | null) => boolean;
}) {
  const rows = series.filter(({ value }) => contains(value));
  if (rows.length === 0) {
    return <p class="soft">None of the {MOST_FREQUENT} most frequent user agents contains it.</p>;
  }
  return (
    <Table
      caption={`Of the ${MOST_FREQUENT} most frequent user agents, those that contain it`}
      rows={rows}
      keyOf={({ value }) => value ?? ''}
      columns={[
        {
          title: 'User agent',
          isWide: true,
          cell: ({ value }) => <VisitorText text={value} maxChars={TEXT_MAX_CHARS} />,
        },
        { title: 'Requests', isNumber: true, cell: ({ total }) => count(total) },
        { title: 'Allowed', isNumber: true, cell: ({ allow }) => count(allow) },
        { title: 'Challenged', isNumber: true, cell: ({ challenge }) => count(challenge) },
        { title: 'Blocked', isNumber: true, cell: ({ block }) => count(block) },
      ]}
    />
  );
}
