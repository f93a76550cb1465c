/** Which bots come, what robots.txt tells them, and what they do and get. */
import { useCall } from '../../api/call.ts';
import type { RequestOf, ResponseOf } from '../../api/service-api.ts';
import { DecisionSeries } from '../../components/time-series.tsx';
import { SelectField } from '../../components/field.tsx';
import { EmptyState, Load, Page, Section } from '../../components/page.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { count, counted } from '../../format/numbers.ts';
import { siteOf, whenKnown } from '../../frame/instances.ts';
import { bucketSecondsOf, type Params, type TimeWindow, useParams, useWindow } from '../../url/params.ts';
import { ViewTabs } from '../../components/tabs.tsx';
import { OwnCallsSwitch } from '../verdicts/own-calls.tsx';
import { showsOwnCalls } from '../verdicts/verdict-filters.ts';
import { BotTrafficTable, ImpostorTable } from './bot-traffic-tables.tsx';

type Traffic = ResponseOf<'/protect/bots/traffic'>;

/** As many as one call of the chart can name. */
const BOTS_MAX = 100;

export default function BotTraffic() {
  const [params, change] = useParams();
  const window = useWindow();
  const body: RequestOf<'/protect/bots/traffic'> = {
    ...siteOf(params),
    since: window.since,
    until: window.until,
    limit: BOTS_MAX,
    includeInternal: showsOwnCalls(params),
  };
  const loaded = useCall('/protect/bots/traffic', whenKnown(body));
  const { value } = loaded;
  const ids = namesIn(value);
  const chosen = params['bot'];
  const chart = chartBody(params, window, chosen === undefined ? ids : [chosen]);
  const summary = useCall('/protect/traffic-summary', chart.bot.length === 0 ? null : chart);
  const isEmpty = value !== null && ids.length === 0;
  return (
    <Page
      title="Bots"
      lead="Who comes, what robots.txt tells them, and what they do and get."
      actions={
        <>
          <OwnCallsSwitch />
          <RangePicker window={window} />
        </>
      }
    >
      <ViewTabs of="Bots" />
      <Load of={loaded} />
      <Load of={summary} />
      {isEmpty ? (
        <EmptyState title="No bot came in this window">
          <p>A bot appears here when a request uses its name, or is signed by an agent.</p>
        </EmptyState>
      ) : (
        <>
          <Section
            title="Requests with the name of a bot"
            actions={
              <SelectField
                label="Bot"
                isLabelHidden
                value={chosen ?? ''}
                options={[
                  ['', ids.length < BOTS_MAX ? 'all of them' : `the first ${BOTS_MAX}`],
                  ...new Set([...ids, ...(chosen === undefined ? [] : [chosen])]),
                ]}
                onChange={(bot) => change({ bot })}
              />
            }
          >
            <DecisionSeries
              title="Requests with the name of a bot over time"
              window={window}
              value={chart.bot.length === 0 ? null : summary.value}
            />
          </Section>
          {value !== null && <Report traffic={value} params={params} />}
        </>
      )}
    </Page>
  );
}

function Report({ traffic, params }: { traffic: Traffic; params: Params }) {
  const { bots, impostors, other, total, isExact, robotsIsExact } = traffic;
  const sum = bots.reduce((all, bot) => all + bot.total, 0);
  return (
    <>
      <Section title="Bots">
        <div class="stack">
          <p class="soft">
            {counted(sum, 'request')} of {count(total)}. “Came anyway” are requests to paths that robots.txt, as
            crawlers get it now, disallows to the bot.
          </p>
          {bots.length > 0 && <BotTrafficTable bots={bots} total={total} params={params} />}
          <p class="hint">
            {other.bots > 0 && `${count(other.bots)} more with ${counted(other.total, 'request')}. `}
            {!isExact && 'Some hour had more bots than the log counts one by one. '}
            {!robotsIsExact && 'Only the paths with most requests were compared with robots.txt. '}
          </p>
        </div>
      </Section>
      {impostors.length > 0 && (
        <Section title="Impostors">
          <div class="stack">
            <p class="soft">Requests that use the name of a bot and are provably not it.</p>
            <ImpostorTable impostors={impostors} total={total} params={params} />
          </div>
        </Section>
      )}
    </>
  );
}

/** Every name that was used, real ones first. */
function namesIn(traffic: Traffic | null): string[] {
  const names = [...(traffic?.bots ?? []), ...(traffic?.impostors ?? [])].map(({ id }) => id);
  return [...new Set(names)].slice(0, BOTS_MAX);
}

function chartBody(params: Params, window: TimeWindow, bot: string[]) {
  const { since, until } = window;
  const bucket = bucketSecondsOf(window);
  return { ...siteOf(params), since, until, bucket, bot, includeInternal: showsOwnCalls(params) };
}
