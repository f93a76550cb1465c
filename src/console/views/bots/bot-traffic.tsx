/** What the bot policy decided about the bots that came. */
import { useCall } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { byDecision, readDecisions } from '../../components/by-decision.ts';
import { Section } from '../../components/facts.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { TimeSeries } from '../../components/time-series.tsx';
import { instances, siteOf } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import { useWindow } from '../../url/use-window.ts';
import { bucketSecondsOf } from '../../url/window.ts';
import { BotTabs } from './bot-tabs.tsx';

export default function BotTraffic() {
  const [params, change] = useParams();
  const window = useWindow();
  const { since, until } = window;
  const bucket = bucketSecondsOf(window);
  const body: RequestOf<'/protect/traffic-summary'> = {
    ...siteOf(params),
    since,
    until,
    bucket,
    source: ['bot', 'impostor'],
  };
  // Until the instances are known, the call could be about another one.
  const { value, error, reload } = useCall('/protect/traffic-summary', instances.value.list === null ? null : body);
  return (
    <Page
      title="Bots"
      lead="Crawlers, feed readers, monitors and agents that name themselves."
      actions={<RangePicker window={window} />}
      calls={[{ method: 'POST', path: '/protect/traffic-summary', body }]}
    >
      <BotTabs />
      {error !== null && <RefusalNotice error={error} onRetry={reload} />}
      <Section title="Decided by the bot policy">
        <TimeSeries
          title="Requests decided by the bot policy over time"
          series={byDecision}
          rows={value?.buckets ?? []}
          read={readDecisions}
          since={value?.since ?? since}
          until={value?.until ?? until}
          bucketSeconds={value?.bucketSeconds ?? bucket}
          onChoose={(from, to) => change({ from: String(from), to: String(to), range: null })}
        />
      </Section>
    </Page>
  );
}
