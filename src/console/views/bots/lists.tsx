/** Who counts as a bot: the account's own bots, the catalogue, and the networks that operators publish. */
import { useCall } from '../../api/call.ts';
import { Facts, Load, Page, RefusalNotice, Section } from '../../components/page.tsx';
import { addressOf, useParams } from '../../url/params.ts';
import { ViewTabs } from '../../components/tabs.tsx';
import { CatalogueSection, Texts, catalogueBody } from './catalogue.tsx';
import { OwnBots } from './own-bots.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { ResponseOf } from '../../api/service-api.ts';
import { Chip, Time, VisitorText } from '../../components/values.tsx';
import { CopyButton } from '../../components/button.tsx';
import { Table } from '../../components/table.tsx';
import { count } from '../../format/numbers.ts';

export default function BotLists() {
  const [params, change] = useParams();
  const own = useCall('/protect/bots/own', {});
  const published = useCall('/protect/bots/lists', {});
  const catalogue = useCall('/protect/bots', catalogueBody(params));
  const { bot } = params;
  const reload = () => {
    own.reload();
    catalogue.reload();
  };
  return (
    <Page title="Bots" lead="Names that count as bots, and what proves them.">
      <ViewTabs of="Bots" />
      <Load of={own} />
      <Load of={published} />
      <Load of={catalogue} />
      <OwnBots bots={own.value?.bots ?? null} onChange={reload} />
      <CatalogueSection found={catalogue.value} />
      <PublishedLists lists={published.value?.lists ?? null} />
      {bot !== undefined && <BotDialog id={bot} onClose={() => change({ bot: null }, true)} />}
    </Page>
  );
}

/** One bot with everything that is known of it. */
export function BotDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [params] = useParams();
  const { value, error } = useCall('/protect/bots/get', { id });
  return (
    <Dialog title={value?.name ?? id} onClose={onClose} isWide>
      <RefusalNotice error={error} />
      {value !== null && (
        <Facts
          facts={[
            ['Id', value.id],
            [
              'Its requests',
              <a key="requests" href={addressOf('/console/verdicts', { site: params['site'], bot: value.id })}>
                in the verdict log
              </a>,
            ],
            ['Known from', value.isOwn ? 'your own bots' : 'the catalogue'],
            ['Operator', <Texts key="operator" texts={value.operator === null ? [] : [value.operator]} />],
            ['Comes for', value.behaviours.join(', ')],
            ['User agent has', <Texts key="patterns" texts={value.patterns} />],
            ['Names in robots.txt', <Texts key="tokens" texts={value.tokens} />],
            ['Published lists', <Texts key="ranges" texts={value.ranges} />],
            ['Networks', <Texts key="networks" texts={value.networks} />],
            ['Names of its addresses', <Texts key="dns" texts={value.dns} />],
            ['Signs as', <Texts key="agents" texts={value.agents} />],
            [
              'Without a proof',
              value.isComplete
                ? 'Others who use the name are impostors'
                : 'The name is only claimed: not every request of the bot can be proved',
            ],
          ]}
        />
      )}
    </Dialog>
  );
}

type List = ResponseOf<'/protect/bots/lists'>['lists'][number];

/** Those that need somebody come first. */
const order = (list: List): number => (list.waitsForAccept ? 0 : list.error !== null ? 1 : 2);

/** The lists of networks that operators publish: how old each is, and what is wrong. Accounts share them, so they are read here only. */
export function PublishedLists({ lists }: { lists: readonly List[] | null }) {
  return (
    <Section title="Published networks">
      <p class="soft">
        The service reads each list about once a day, for all its accounts. A list that cannot be read, or that changed
        by more than half, leaves the last good one in force. The operator of the service reads one again with{' '}
        <code>bots read</code> and accepts one with <code>bots accept</code>.
      </p>
      {lists !== null && (
        <Table
          caption="Published networks"
          rows={lists.toSorted((a, b) => order(a) - order(b))}
          keyOf={({ url }) => url}
          columns={[
            { title: 'List', isWide: true, isWrapped: true, cell: ({ url }) => <VisitorText text={url} /> },
            { title: 'Bots', isWrapped: true, cell: ({ bots }) => <Texts texts={bots} shown={3} /> },
            { title: 'Networks', isNumber: true, cell: ({ networkCount }) => count(networkCount) },
            { title: 'Last good', cell: ({ confirmedAt }) => <Time at={confirmedAt} isBrief /> },
            { title: 'Last tried', cell: ({ triedAt }) => <Time at={triedAt} isBrief /> },
            { title: 'State', isWrapped: true, cell: (list) => <State list={list} /> },
          ]}
        />
      )}
    </Section>
  );
}

function State({ list: { url, error, triedAt, waitsForAccept } }: { list: List }) {
  if (error === null) return triedAt === null ? <span class="soft">not read yet</span> : <Chip tone="allow">good</Chip>;
  return (
    <>
      <Chip tone="warn">{waitsForAccept ? 'waits' : 'failed'}</Chip> <VisitorText text={error} maxChars={200} />
      {waitsForAccept && (
        <div class="actions">
          <CopyButton text={`npm run -s gatehouse -- bots accept ${url}`} label="Copy the command" />
        </div>
      )}
    </>
  );
}
