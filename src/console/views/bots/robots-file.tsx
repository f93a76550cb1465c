/** robots.txt as crawlers get it, beside the origin's own, and what it tells each bot. */
import { useState } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import type { RequestOf, ResponseOf } from '../../api/service-api.ts';
import { Chip, Time, VisitorText } from '../../components/values.tsx';
import { EmptyState, Facts, Load, Page, Section, Warning } from '../../components/page.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Table, type TableColumn } from '../../components/table.tsx';
import { lineDiff, textLines, type DiffLine } from '../../../bytes/line-diff.ts';
import { count, counted } from '../../format/numbers.ts';
import { siteOf, whenKnown } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import { ViewTabs } from '../../components/tabs.tsx';

type Robots = ResponseOf<'/protect/robots'>;

/** A file of 500 KiB has more lines than a page should have elements. */
const LINES_SHOWN_MAX = 3000;

const shown = [
  ['served', 'As served'],
  ['diff', 'Difference to the origin’s'],
  ['origin', 'The origin’s'],
] as const;
type Shown = (typeof shown)[number][0];

const states: Record<NonNullable<Robots['origin']>['state'], string> = {
  file: 'a file',
  cut: 'a file longer than 500 KiB, of which crawlers read the beginning',
  none: 'no file',
  page: 'a page or something binary, which is no robots.txt',
  error: 'no answer at the last attempt',
};

export default function RobotsFile() {
  const [params, change] = useParams();
  const host = params['host'];
  const body: RequestOf<'/protect/robots'> = { ...siteOf(params), ...(host === undefined ? {} : { host }) };
  const loaded = useCall('/protect/robots', whenKnown(body));
  return (
    <Page title="Bots" lead="What robots.txt tells crawlers: the origin’s file, merged with the bot policy.">
      <ViewTabs of="Bots" />
      <Load of={loaded}>
        {(robots) => (
          <>
            {!robots.isServed && (
              <Warning>
                Crawlers get the origin’s own file: the instance is in monitor mode, or robots.txt is off in the policy.
                This is what they would get.
              </Warning>
            )}
            {robots.hosts.length > 1 && (
              <SelectField
                label="Host"
                value={robots.host ?? ''}
                options={robots.hosts.map((one) => [one.host, one.host])}
                onChange={(next) => change({ host: next })}
              />
            )}
            <Origin robots={robots} />
            <File robots={robots} show={shown.find(([name]) => name === params['show'])?.[0] ?? 'served'} />
            <Told bots={robots.bots} />
          </>
        )}
      </Load>
    </Page>
  );
}

function Origin({ robots: { origin, host } }: { robots: Robots }) {
  if (origin === null) {
    return (
      <EmptyState title="No edge has asked the origin for robots.txt yet">
        <p>An edge asks for it with the first crawler. Until then, this is what the policy alone says.</p>
      </EmptyState>
    );
  }
  return (
    <Section title="The origin">
      <Facts
        facts={[
          ['Host', <VisitorText text={host} />],
          ['Answered with', states[origin.state]],
          ['Last answer', <Time at={origin.readAt} />],
          ['Last asked', <Time at={origin.seenAt} />],
        ]}
      />
    </Section>
  );
}

const plain = (text: string) => textLines(text).map((line): DiffLine => ({ kind: 'same', text: line }));

function File({ robots: { served, origin }, show }: { robots: Robots; show: Shown }) {
  const [, change] = useParams();
  const own = origin?.text ?? '';
  const lines = show === 'diff' ? lineDiff(own, served) : plain(show === 'origin' ? own : served);
  const changes = lines.filter(({ kind }) => kind !== 'same').length;
  return (
    <Section
      title="robots.txt"
      actions={
        <SelectField
          label="Show"
          isLabelHidden
          value={show}
          options={shown}
          onChange={(next) => change({ show: next === 'served' ? null : next })}
        />
      }
    >
      <p class="soft">
        {counted(lines.length, 'line')}
        {show === 'diff' && `, ${count(changes)} of them different`}
        {lines.length > LINES_SHOWN_MAX && `. The first ${count(LINES_SHOWN_MAX)} are shown`}
      </p>
      <div class="file-text" tabIndex={0} role="region" aria-label="robots.txt">
        {lines.slice(0, LINES_SHOWN_MAX).map(({ kind, text }, at) => (
          <div key={at} class={`file-line file-line-${kind}`}>
            <span class="file-mark">{marks[kind]}</span>
            {text === '' ? '\u00a0' : <VisitorText text={text} />}
          </div>
        ))}
      </div>
    </Section>
  );
}

const marks: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '−' };
const toneOf = { all: 'allow', some: 'challenge', none: 'block' } as const;

const columns: TableColumn<Robots['bots'][number]>[] = [
  { title: 'Bot', cell: ({ id }) => <VisitorText text={id} />, width: 'minmax(120px, 1fr)' },
  { title: 'Comes for', cell: ({ behaviours }) => behaviours.join(', '), width: 'minmax(120px, 1fr)' },
  { title: 'Gets', cell: ({ action }) => action, width: '100px' },
  { title: 'May fetch', cell: ({ told }) => <Chip tone={toneOf[told]}>{told}</Chip>, width: '100px' },
  {
    title: 'Rules',
    isWide: true,
    cell: ({ rules }) => <VisitorText text={rules.join(', ')} maxChars={200} />,
    width: 'minmax(200px, 3fr)',
  },
];

function Told({ bots }: { bots: Robots['bots'] }) {
  const [search, setSearch] = useState('');
  const words = search.trim().toLowerCase();
  const found = bots.filter(({ id, behaviours, tokens }) =>
    [id, ...behaviours, ...tokens].some((text) => text.toLowerCase().includes(words)),
  );
  const number = (told: keyof typeof toneOf) => count(bots.filter((bot) => bot.told === told).length);
  return (
    <Section title="What bots are told">
      <p class="soft">
        Of {counted(bots.length, 'bot')}, {number('all')} may fetch everything, {number('some')} a part,{' '}
        {number('none')} nothing.
      </p>
      <TextField label="Find a bot" type="search" value={search} onInput={setSearch} />
      <Table caption="What bots are told" columns={columns} rows={found} keyOf={({ id }) => id} />
    </Section>
  );
}
