/** The catalogue with the account's own bots: search by text, behaviour and proof, a page at a time. */
import type { RequestOf, ResponseOf } from '../../api/service-api.ts';
import { Chip, VisitorText } from '../../components/values.tsx';
import { EmptyState, Section } from '../../components/page.tsx';
import type { FilterField } from '../../components/filter-field.ts';
import { FilterForm } from '../../components/filter-form.tsx';
import { NumberedPages, pageOf } from '../../components/numbered-pages.tsx';
import { Table } from '../../components/table.tsx';
import { count, counted } from '../../format/numbers.ts';
import { addressOf, type Params, useParams } from '../../url/params.ts';
import { namedBehaviours } from '../../../contract/vocabulary.ts';

type Query = RequestOf<'/protect/bots'>;
export type BotPage = ResponseOf<'/protect/bots'>;
export type Bot = BotPage['bots'][number];

const PATH = '/console/bots/lists';
const BOTS_PER_PAGE = 25;
const proofs = ['range', 'dns', 'signature'] as const;
const fields: readonly FilterField[] = [
  { param: 'search', label: 'Name or user agent', type: 'search', isMono: false, maxLength: 128 },
  { param: 'behaviour', label: 'Comes for', none: 'anything', options: namedBehaviours },
  { param: 'proof', label: 'Proved by', none: 'any or none', options: proofs },
];

/** What the address asks for. A value that nobody could have chosen is left out. */
export function catalogueBody(params: Params): Query {
  const behaviour = namedBehaviours.find((one) => one === params['behaviour']);
  const proof = proofs.find((one) => one === params['proof']);
  const { search } = params;
  return {
    page: pageOf(params),
    limit: BOTS_PER_PAGE,
    ...(search === undefined ? {} : { search }),
    ...(behaviour === undefined ? {} : { behaviour }),
    ...(proof === undefined ? {} : { proof }),
  };
}

export function CatalogueSection({ found }: { found: BotPage | null }) {
  const [params] = useParams();
  return (
    <Section title="Catalogue">
      <FilterForm verb="Search" fields={fields} place={['page']} />
      {found !== null && found.bots.length === 0 && (
        <EmptyState title="No bot matches">
          <p>Clear a field, or add the bot to your own.</p>
        </EmptyState>
      )}
      {found !== null && found.bots.length > 0 && <Bots bots={found.bots} params={params} />}
      {found !== null && <NumberedPages page={found.page} pages={found.pages} total={counted(found.botCount, 'bot')} />}
    </Section>
  );
}

function Bots({ bots, params }: { bots: readonly Bot[]; params: Params }) {
  return (
    <Table
      caption="Bots of the catalogue"
      rows={bots}
      keyOf={({ id }) => id}
      isCurrent={({ id }) => id === params['bot']}
      columns={[
        {
          title: 'Bot',
          cell: ({ id, isOwn }) => (
            <>
              <a href={addressOf(PATH, { ...params, bot: id })}>{id}</a> {isOwn && <Chip tone="info">own</Chip>}
            </>
          ),
        },
        { title: 'Operator', isWrapped: true, cell: ({ operator }) => <VisitorText text={operator} maxChars={60} /> },
        { title: 'Comes for', isWrapped: true, cell: ({ behaviours }) => behaviours.join(', ') },
        {
          title: 'User agent has',
          isWide: true,
          isWrapped: true,
          cell: ({ patterns }) => <Texts texts={patterns} shown={3} />,
        },
        { title: 'Proved by', isWrapped: true, cell: (bot) => provedBy(bot) || <span class="soft">nothing</span> },
      ]}
    />
  );
}

/** One in each line, or the first of them. */
export function Texts({ texts, shown = texts.length }: { texts: readonly string[]; shown?: number }) {
  if (texts.length === 0) return <span class="soft">–</span>;
  return (
    <>
      {texts.slice(0, shown).map((text) => (
        <div key={text}>
          <VisitorText text={text} maxChars={100} />
        </div>
      ))}
      {texts.length > shown && <span class="soft">and {count(texts.length - shown)} more</span>}
    </>
  );
}

function provedBy({ ranges, networks, dns, agents }: Bot): string {
  return [ranges.length + networks.length > 0 && 'range', dns.length > 0 && 'dns', agents.length > 0 && 'signature']
    .filter(Boolean)
    .join(', ');
}
