/** The report about bots as tables. Every number leads to its verdicts. */
import { Fragment, type ComponentChildren } from 'preact';
import type { Schema } from '../../api/service-api.ts';
import { Table, type TableColumn } from '../../components/table.tsx';
import { VisitorText } from '../../components/values.tsx';
import { count, counted, percent } from '../../format/numbers.ts';
import { siteParam } from '../../frame/instances.ts';
import { addressOf, type Params } from '../../url/params.ts';
import { botProofs } from '../../../contract/vocabulary.ts';

type Bot = Schema<'BotTraffic'>;
type Impostor = Schema<'ImpostorTraffic'>;
type HrefOf = (id: string, filter?: Readonly<Record<string, string>>) => string;

const realProofs = botProofs.filter((proof) => proof !== 'impostor');
const PATH_MAX_CHARS = 80;

/** The verdicts of the same time, of requests with these proofs. */
function verdictsOf(params: Params, proof: string): HrefOf {
  const { range, from, to, internal } = params;
  return (id, filter) =>
    addressOf('/console/verdicts', { ...siteParam(params), range, from, to, internal, bot: id, proof, ...filter });
}

export interface TableOf {
  /** Requests of everybody. */
  total: number;
  params: Params;
}

export function BotTrafficTable({ bots, total, params }: TableOf & { bots: readonly Bot[] }) {
  const hrefOf = verdictsOf(params, realProofs.join(','));
  return (
    <Table
      caption="Bots, most requests first"
      rows={bots}
      keyOf={({ id }) => id}
      isCurrent={({ id }) => id === params['bot']}
      columns={[
        { title: 'Bot', isWrapped: true, cell: (bot) => <Name bot={bot} params={params} /> },
        ...numbers<Bot>(total, hrefOf),
        { title: 'Proof', isWrapped: true, cell: (bot) => <Proofs bot={bot} hrefOf={hrefOf} /> },
        { title: 'Got', isWrapped: true, cell: (bot) => <Got of={bot} hrefOf={hrefOf} /> },
        {
          title: 'robots.txt allows',
          cell: ({ robots }) => robots?.extent ?? <span class="soft">not known</span>,
        },
        { title: 'Came anyway', isWrapped: true, cell: (bot) => <CameAnyway bot={bot} hrefOf={hrefOf} /> },
      ]}
    />
  );
}

export function ImpostorTable({ impostors, total, params }: TableOf & { impostors: readonly Impostor[] }) {
  const hrefOf = verdictsOf(params, 'impostor');
  return (
    <Table
      caption="Impostors, most requests first"
      rows={impostors}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Impostor of', isWrapped: true, cell: (one) => <Name bot={one} params={params} /> },
        ...numbers<Impostor>(total, hrefOf),
        { title: 'Got', isWrapped: true, cell: (one) => <Got of={one} hrefOf={hrefOf} /> },
      ]}
    />
  );
}

function numbers<Row extends Impostor>(all: number, hrefOf: HrefOf): TableColumn<Row>[] {
  return [
    { title: 'Requests', isNumber: true, cell: ({ id, total }) => <a href={hrefOf(id)}>{count(total)}</a> },
    { title: 'Share', isNumber: true, cell: ({ total }) => percent(total, all) },
  ];
}

/** Leads to what the catalogue knows. */
function Name({ bot, params }: { bot: Impostor | Bot; params: Params }) {
  const { id, name } = bot;
  const text = <VisitorText text={id} maxChars={64} />;
  const facts = 'behaviours' in bot ? [bot.behaviours.join(', '), bot.operator ?? ''] : [];
  return (
    <>
      {name === null ? text : <a href={addressOf('/console/bots/lists', { ...siteParam(params), bot: id })}>{text}</a>}{' '}
      <span class="soft">
        <VisitorText text={facts.filter((fact) => fact !== '').join(' · ')} maxChars={80} />
      </span>
    </>
  );
}

function Proofs({ bot: { id, proofs }, hrefOf }: { bot: Bot; hrefOf: HrefOf }) {
  const found = realProofs.filter((proof) => proofs[proof] > 0);
  return listed(
    found.map((proof) => (
      <a href={hrefOf(id, { proof })}>
        {proof} {count(proofs[proof])}
      </a>
    )),
  );
}

const outcomes = [
  ['allow', 'allowed'],
  ['challenge', 'challenged'],
  ['block', 'blocked'],
] as const;

/** The log has no filter for a status: what was charged is among what was blocked. */
function Got({ of, hrefOf }: { of: Impostor; hrefOf: HrefOf }) {
  const { id, charge } = of;
  return listed([
    ...outcomes
      .filter(([decision]) => of[decision] > 0)
      .map(([decision, name]) => (
        <a href={hrefOf(id, { decision })}>
          {name} {count(of[decision])}
        </a>
      )),
    ...(charge === 0 ? [] : [<a href={hrefOf(id, { decision: 'block' })}>charged {count(charge)}</a>]),
  ]);
}

function CameAnyway({ bot: { id, robots }, hrefOf }: { bot: Bot; hrefOf: HrefOf }) {
  if (robots === null) return <span class="soft">not known</span>;
  const { disallowed, disallowedProved, examples } = robots;
  if (disallowed === 0) return <>no</>;
  return (
    <details>
      <summary>
        {count(disallowed)}
        {disallowedProved < disallowed && `, ${count(disallowedProved)} proved`}
      </summary>
      <ul class="plain-list">
        {examples.map(({ host, path, rule, total }) => (
          <li key={`${host} ${path}`}>
            <a href={hrefOf(id, { path })}>
              <VisitorText text={path} maxChars={PATH_MAX_CHARS} />
            </a>{' '}
            <span class="soft">
              {counted(total, 'request')} to <VisitorText text={host} maxChars={60} />, against{' '}
              <VisitorText text={rule} maxChars={PATH_MAX_CHARS} />
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function listed(parts: readonly ComponentChildren[]) {
  return (
    <>
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && ', '}
          <span class="nowrap">{part}</span>
        </Fragment>
      ))}
    </>
  );
}
