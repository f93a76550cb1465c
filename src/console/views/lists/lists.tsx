/** Blocklists and allowlists of others: how each is, when it was read, and a form for a new one. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { DecisionChip, Time, VisitorText } from '../../components/values.tsx';
import { Load, Page } from '../../components/page.tsx';
import { OfInstance } from '../../components/of-instance.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { count } from '../../format/numbers.ts';
import { shownInstance, siteOf } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import { LISTS_EVERY_MS, ModeChip, StateChip, listAddress } from './list-chips.tsx';
import { ListForm } from './list-form.tsx';

export default function Lists() {
  const { route } = useLocation();
  const [params] = useParams();
  const [isAdding, setIsAdding] = useState(false);
  const instance = shownInstance(params);
  const site = siteOf(params);
  const loaded = useCall('/protect/lists', instance === null ? null : site, { everyMs: LISTS_EVERY_MS });
  const mayChange = may('updateProtectSettings') && instance !== null;
  return (
    <Page
      title="Lists"
      lead="Networks that others publish, read again and again. Your own access rules win over them."
      actions={
        mayChange && (
          <Button kind="primary" onClick={() => setIsAdding(true)}>
            Add a list
          </Button>
        )
      }
    >
      <OfInstance>
        {() => (
          <Load
            of={loaded}
            isEmpty={({ lists }) => lists.length === 0}
            emptyTitle="No list yet"
            emptyText="Subscribe to a blocklist, or keep the addresses of your offices as a file. A list only records what it would do until you enforce it."
          >
            {({ lists }) => (
              <Table
                caption="Lists"
                rows={lists}
                keyOf={({ name }) => name}
                columns={[
                  { title: 'Name', cell: ({ name }) => <a href={listAddress(name, params)}>{name}</a> },
                  { title: 'State', cell: (list) => <StateChip list={list} /> },
                  { title: 'Mode', cell: (list) => <ModeChip list={list} /> },
                  { title: 'Says', cell: ({ verdict }) => <DecisionChip decision={verdict} /> },
                  { title: 'Entries', isNumber: true, cell: ({ entries }) => count(entries) },
                  { title: 'Last good', cell: ({ confirmedAt }) => <Time at={confirmedAt} isBrief /> },
                  { title: 'Next', cell: ({ nextAt }) => <Time at={nextAt} isBrief /> },
                  {
                    title: 'From',
                    isWide: true,
                    cell: ({ url, error: why }) => (
                      <>
                        <VisitorText text={url ?? 'a file'} maxChars={120} />
                        {why !== null && (
                          <div class="soft">
                            <VisitorText text={why} maxChars={120} />
                          </div>
                        )}
                      </>
                    ),
                  },
                ]}
              />
            )}
          </Load>
        )}
      </OfInstance>
      {isAdding && (
        <ListForm
          site={site}
          list={null}
          onClose={() => setIsAdding(false)}
          onSaved={({ name, url }) => {
            toast(url === null ? `${name} waits for its file.` : `${name} is read within a minute.`);
            route(listAddress(name, params));
          }}
        />
      )}
    </Page>
  );
}
