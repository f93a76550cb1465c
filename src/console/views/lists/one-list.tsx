/** One list: when it was read and what came of it, what is wrong, and everything that can be done with it. */
import { useLocation, useRoute } from 'preact-iso/router';
import { useCall } from '../../api/call.ts';
import { ButtonLink } from '../../components/button.tsx';
import { DecisionChip, Time, VisitorText } from '../../components/values.tsx';
import { EmptyState, Facts, Load, Page, Section, Warning } from '../../components/page.tsx';
import { count, counted, duration } from '../../format/numbers.ts';
import { shownInstance, siteOf, siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import { LISTS_EVERY_MS, ModeChip, StateChip } from './list-chips.tsx';
import type { List } from './list-draft.ts';
import { ListActions } from './list-actions.tsx';
import { ListReport } from './list-report.tsx';

const SECOND_MS = 1000;

export default function OneList() {
  const { params: place } = useRoute();
  const { route } = useLocation();
  const [params] = useParams();
  const name = place['name'] ?? '';
  const instance = shownInstance(params);
  const site = siteOf(params);
  const loaded = useCall('/protect/lists', instance === null ? null : site, { everyMs: LISTS_EVERY_MS });
  const list = loaded.value?.lists.find((one) => one.name === name);
  const back = addressOf('/console/lists', siteParam(params));
  return (
    <Page
      title={`List ${name}`}
      actions={
        <>
          {list !== undefined && (
            <>
              <StateChip list={list} /> <ModeChip list={list} />
            </>
          )}
          <ButtonLink href={back}>Back to the lists</ButtonLink>
        </>
      }
      calls={[
        { method: 'POST', path: '/protect/lists/refresh', body: { ...site, name } },
        { method: 'POST', path: '/protect/lists/preview', body: { ...site, name } },
      ]}
    >
      <Load of={loaded}>
        {() =>
          list === undefined && (
            <EmptyState title="The instance has no such list">
              <p>Somebody may have removed it.</p>
            </EmptyState>
          )
        }
      </Load>
      {list !== undefined && (
        <>
          <Trouble list={list} />
          <ListActions key={list.name} site={site} list={list} onChange={loaded.reload} onRemoved={() => route(back)} />
          <Readings
            list={list}
            requests={addressOf('/console/verdicts', { ...siteParam(params), rule: `list:${name}` })}
          />
          <Settings list={list} />
          {list.report !== null && (
            <Section title="Lines of the last good reading">
              <ListReport report={list.report} />
            </Section>
          )}
        </>
      )}
    </Page>
  );
}

function Trouble({ list: { state, error, failures, confirmedAt } }: { list: List }) {
  if (error === null && state !== 'expired') return null;
  return (
    <Warning>
      <div role="status">
        {error !== null && (
          <p>
            {failures > 1 ? `The last ${count(failures)} attempts failed` : 'The last attempt failed'}:{' '}
            <VisitorText text={error} maxChars={500} />
          </p>
        )}
        <p>
          {state === 'expired' ? (
            'The list has no effect until it is read well again.'
          ) : confirmedAt === null ? (
            'It was never read well, so it has no entries.'
          ) : (
            <>
              The reading of <Time at={confirmedAt} isBrief /> stays in force.
            </>
          )}
        </p>
      </div>
    </Warning>
  );
}

function Readings({ list, requests }: { list: List; requests: string }) {
  const { entries, lastChange, url } = list;
  return (
    <Section title="Readings">
      <Facts
        facts={[
          ['Entries in force', count(entries)],
          ['Last tried', <Time key="tried" at={list.triedAt} />],
          ['Last read well', <Time key="confirmed" at={list.confirmedAt} />],
          ['Last changed', <Time key="changed" at={list.changedAt} />],
          [
            'Last change',
            lastChange === null ? '–' : `${count(lastChange.added)} added, ${count(lastChange.removed)} removed`,
          ],
          ['Next', url === null ? 'when you replace the file' : <Time key="next" at={list.nextAt} />],
          [
            'Requests that met it',
            <a key="requests" href={requests}>
              in the verdict log
            </a>,
          ],
        ]}
      />
    </Section>
  );
}

function Settings({ list }: { list: List }) {
  const { url, format, column, selector, verdict, intervalMinutes, expirySeconds, maxChangePercent } = list;
  const place = column ?? selector;
  return (
    <Section title="Settings">
      <Facts
        facts={[
          ['From', url === null ? 'a file' : <VisitorText key="url" text={url} />],
          ['Format', place === null ? format : `${format}, ${place}`],
          ['Header with every fetch', list.hasAuthorization ? 'stored' : 'none'],
          ['Its entries say', <DecisionChip key="verdict" decision={verdict} />],
          ['Fetched every', url === null ? '–' : counted(intervalMinutes, 'minute')],
          ['Has no effect after', expirySeconds === null ? 'never' : duration(expirySeconds * SECOND_MS)],
          ['Largest change of a reading', `${maxChangePercent} %`],
          ['Reserved networks', list.includeReserved ? 'taken' : 'left out'],
          ['Created', <Time key="created" at={list.createdAt} />],
        ]}
      />
    </Section>
  );
}
