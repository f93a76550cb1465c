/** Who changed what, newest first. */
import { useCall } from '../../api/call.ts';
import { Load, Page } from '../../components/page.tsx';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { Table } from '../../components/table.tsx';
import { Time, VisitorText } from '../../components/values.tsx';
import { choosableInstances } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import { actorOf, type AuditEntry, type ChangedLine, deedOf, linesOf, sentLines } from './audit-words.ts';

const ENTRIES_PER_PAGE = 50;
const VALUE_MAX_CHARS = 300;

export default function AuditTrail() {
  const [params] = useParams();
  const { cursor } = params;
  const body = { limit: ENTRIES_PER_PAGE, ...(cursor === undefined ? {} : { cursor }) };
  const loaded = useCall('/audit-trail/get', body);
  const { value } = loaded;
  return (
    <Page
      title="Audit trail"
      lead="Every change through the API and the console, kept for a year. Secrets are removed."
    >
      <Load of={loaded} isEmpty={({ entries }) => entries.length === 0} emptyTitle="Nobody has changed anything yet">
        {({ entries }) => (
          <Table
            caption="Changes, newest first"
            rows={entries}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Time', cell: ({ at }) => <Time at={at} isBrief /> },
              { title: 'Change', isWide: true, isWrapped: true, cell: (entry) => <Change entry={entry} /> },
              { title: 'Address', cell: ({ ip }) => <span class="mono">{ip ?? '–'}</span> },
            ]}
          />
        )}
      </Load>
      <OlderPages next={value?.nextCursor} />
    </Page>
  );
}

function Change({ entry }: { entry: AuditEntry }) {
  const { changes, body, userEmail } = entry;
  const items = changes?.items ?? [];
  const total = (changes?.counts ?? []).reduce((sum, { count }) => sum + count, 0);
  const isOneOfSeveral = changes?.instance != null && choosableInstances().length > 1;
  return (
    <>
      <div title={userEmail ?? undefined}>
        <b>
          <VisitorText text={actorOf(entry)} maxChars={60} />
        </b>{' '}
        <VisitorText text={deedOf(entry)} maxChars={VALUE_MAX_CHARS} />
        {isOneOfSeveral && <span class="soft"> (instance {changes.instance})</span>}
      </div>
      {changes === null && <Lines lines={sentLines(body)} />}
      {items.map((item, at) => (
        <div key={at}>
          {total > 1 && item.change !== 'named' && (
            <b>
              {item.kind} <VisitorText text={item.name} maxChars={VALUE_MAX_CHARS} />: {item.change}
            </b>
          )}
          <Lines lines={linesOf(item)} />
        </div>
      ))}
      {total > items.length && items.length > 0 && <p class="hint">And {total - items.length} more.</p>}
    </>
  );
}

function Lines({ lines }: { lines: readonly ChangedLine[] }) {
  return (
    <>
      {lines.map(({ label, before, after }, at) => (
        <div key={at} class="soft">
          {label}: {before !== null && <VisitorText text={before} maxChars={VALUE_MAX_CHARS} />}
          {before !== null && ' → '}
          {after === null ? 'nothing' : <VisitorText text={after} maxChars={VALUE_MAX_CHARS} />}
        </div>
      ))}
    </>
  );
}
