/** The first view: how much traffic came, and what the gate decided. */
import { useLocation } from 'preact-iso/router';
import { useCall } from '../../api/call.ts';
import { EmptyState, RefusalNotice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { count, percent } from '../../format/numbers.ts';
import { activeInstances, instances, siteOf } from '../../frame/instances.ts';
import { bucketSecondsOf } from '../../url/window.ts';
import { useWindow } from '../../url/use-window.ts';

export default function Overview() {
  const { query } = useLocation();
  const window = useWindow();
  const isKnown = instances.value.list !== null;
  const hasInstance = activeInstances().length > 0;
  const body = {
    ...siteOf(query),
    since: window.since,
    until: window.until,
    bucket: bucketSecondsOf(window),
  };
  const summary = useCall('/protect/traffic-summary', hasInstance ? body : null);
  const figures = summary.value;
  return (
    <Page
      title="Overview"
      actions={<RangePicker window={window} />}
      calls={[{ method: 'POST', path: '/protect/traffic-summary', body }]}
    >
      {instances.value.error !== null && <RefusalNotice error={instances.value.error} />}
      {summary.error !== null && <RefusalNotice error={summary.error} onRetry={summary.reload} />}
      {isKnown && !hasInstance && (
        <EmptyState title="No instance yet">
          <p>An instance is what one edge enforces. Create one to see its traffic here.</p>
        </EmptyState>
      )}
      {hasInstance && (
        <div class="figures">
          {(['total', 'allow', 'challenge', 'block'] as const).map((name) => (
            <div key={name} class="figure">
              <b>{figures === null ? '–' : count(figures[name])}</b>
              <span class="soft">
                {titles[name]}
                {name !== 'total' && figures !== null && ` · ${percent(figures[name], figures.total)}`}
              </span>
            </div>
          ))}
        </div>
      )}
    </Page>
  );
}

const titles = { total: 'Requests', allow: 'Allowed', challenge: 'Challenged', block: 'Blocked' } as const;
