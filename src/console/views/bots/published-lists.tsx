/** The lists of networks that operators publish: how old each is, and what is wrong. Accounts share them, so they are read here only. */
import type { ResponseOf } from '../../api/service-api.ts';
import { Chip } from '../../components/chip.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { Section } from '../../components/facts.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { count } from '../../format/numbers.ts';
import { Texts } from './catalogue.tsx';

type List = ResponseOf<'/protect/bots/lists'>['lists'][number];

/** Those that need somebody come first. */
const order = (list: List): number => (list.waitsForAccept ? 0 : list.error !== null ? 1 : 2);

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
