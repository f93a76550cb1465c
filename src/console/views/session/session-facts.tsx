/** Who a session was, by its verdicts, and what its risk is computed from. */
import type { ComponentChildren } from 'preact';
import { DetectorList } from '../../components/detector-list.tsx';
import { DecisionChip, Time, VisitorText } from '../../components/values.tsx';
import { Facts, Section } from '../../components/page.tsx';
import { decisions } from '../../../contract/vocabulary.ts';
import { count } from '../../format/numbers.ts';
import { siteParam } from '../../frame/instances.ts';
import { addressOf, type Params } from '../../url/params.ts';
import type { SessionTelemetry } from './session-tables.tsx';

/** A session that hops through a thousand addresses does not fill the page with them. */
const LISTED_MAX = 10;

export function SessionFacts({ telemetry, params }: { telemetry: SessionTelemetry; params: Params }) {
  const list = (filter: Record<string, string>) =>
    addressOf('/console/verdicts', { ...siteParam(params), range: '30d', ...filter });
  const { requests } = telemetry;
  return (
    <Section title="Who it was">
      <Facts
        facts={[
          ['First request', <Time at={telemetry.first_seen} />],
          ['Last request', <Time at={telemetry.last_seen} />],
          [
            'Requests',
            <span class="chips">
              {count(requests.total)}
              {decisions.map(
                (decision) =>
                  requests[decision] > 0 && (
                    <span key={decision}>
                      <DecisionChip decision={decision} /> {count(requests[decision])}
                    </span>
                  ),
              )}
            </span>,
          ],
          ['Addresses', <Listed values={telemetry.ips} show={(ip) => <a href={list({ ip })}>{ip}</a>} />],
          [
            'Networks',
            <Listed values={telemetry.asns.map(String)} show={(asn) => <a href={list({ asn })}>AS{asn}</a>} />,
          ],
          ['Countries', telemetry.countries.join(', ') || '–'],
          ['Device', telemetry.device_type ?? '–'],
          [
            'User agents',
            <Listed values={telemetry.user_agents} show={(text) => <VisitorText text={text} maxChars={200} />} />,
          ],
          ['JA4', <Listed values={telemetry.ja4s} show={(text) => <VisitorText text={text} />} />],
          [
            'Rules that fired',
            <Listed
              values={telemetry.fired_rules.map(({ id }) => id)}
              show={(rule) => (
                <a href={list({ rule })}>
                  <VisitorText text={rule} maxChars={80} />
                </a>
              )}
            />,
          ],
        ]}
      />
    </Section>
  );
}

function Listed({ values, show }: { values: readonly string[]; show: (value: string) => ComponentChildren }) {
  if (values.length === 0) return <span class="soft">–</span>;
  return (
    <ul class="plain-list">
      {values.slice(0, LISTED_MAX).map((value) => (
        <li key={value}>{show(value)}</li>
      ))}
      {values.length > LISTED_MAX && <li class="soft">and {count(values.length - LISTED_MAX)} more</li>}
    </ul>
  );
}

export function SessionRisk({ session }: { session: SessionTelemetry['session'] }) {
  if (session === null) return <p class="soft">The session has ended, and only its verdicts are left.</p>;
  return (
    <Facts
      facts={[
        ['Score now', session.risk_score.toFixed(2)],
        [
          'Parts',
          session.parts.length === 0 ? <span class="soft">nothing fired</span> : <DetectorList parts={session.parts} />,
        ],
        ['Opened', <Time at={session.opened_at} />],
        ['Ends', <Time at={session.expires_at} />],
        ['Renewals', count(session.renewals)],
        ['Changes of address', count(session.address_changes)],
        ['Changes of user agent', count(session.user_agent_changes)],
        ['Idle sessions of its address', count(session.idle_sessions_of_network)],
        ['Requests per minute', count(session.requests_per_minute)],
        ['Reports of its pages', `${count(session.reports)}, ${count(session.implausible_reports)} implausible`],
        ['Somebody used the page', session.interacted ? 'yes' : 'not seen'],
        ['Traits', session.traits.join(', ') || 'none'],
      ]}
    />
  );
}
