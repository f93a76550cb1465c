/** Who changed what, newest first. */
import { useCall } from '../../api/call.ts';
import { Load, Page } from '../../components/page.tsx';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { Table } from '../../components/table.tsx';
import { Time, VisitorText } from '../../components/values.tsx';
import { useParams } from '../../url/params.ts';

const ENTRIES_PER_PAGE = 50;
const BODY_MAX_CHARS = 300;

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
              {
                title: 'Who',
                cell: ({ userEmail, apiKeyName }) => (
                  <VisitorText text={userEmail ?? apiKeyName ?? 'Gatehouse'} maxChars={60} />
                ),
              },
              { title: 'What', cell: ({ operation }) => operation },
              { title: 'Address', cell: ({ ip }) => <span class="mono">{ip ?? '–'}</span> },
              {
                title: 'With',
                isWide: true,
                isWrapped: true,
                cell: ({ body: sent }) => <VisitorText text={JSON.stringify(sent)} maxChars={BODY_MAX_CHARS} />,
              },
            ]}
          />
        )}
      </Load>
      <OlderPages next={value?.nextCursor} />
    </Page>
  );
}
