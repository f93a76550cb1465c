/** Verdicts as they arrive. The list stands still while the pointer or the focus is in it. */
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/field.tsx';
import { EmptyState, RefusalNotice, Warning } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { decisions } from '../../../contract/vocabulary.ts';
import { count } from '../../format/numbers.ts';
import { instances, siteOf, siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { VerdictTable } from '../verdicts/verdict-table.tsx';
import { TAIL_ROWS_MAX } from './tail-rows.ts';
import type { TailRows } from './tail-rows.ts';
import { useTail } from './use-tail.ts';

const choices = [['', 'every decision'] as const, ...decisions.map((decision) => [decision, decision] as const)];

export default function LiveTail() {
  const [params, change] = useParams();
  const [isPaused, setIsPaused] = useState(false);
  const [isHeld, setIsHeld] = useState(false);
  const decision = decisions.find((one) => one === params['decision']);
  const body: RequestOf<'/protect/verdicts/tail'> = {
    ...siteOf(params),
    ...(decision === undefined ? {} : { decision }),
    limit: TAIL_ROWS_MAX,
  };
  const { rows, error, hasStarted } = useTail(instances.value.list === null ? null : body, { isPaused, isHeld });
  return (
    <Page
      title="Live tail"
      lead="Verdicts as they arrive, a second or two after their requests."
      actions={
        <>
          <SelectField
            label="Decision"
            isLabelHidden
            value={decision ?? ''}
            options={choices}
            onChange={(value) => change({ decision: value })}
          />
          <Button kind={isPaused ? 'primary' : 'plain'} onClick={() => setIsPaused(!isPaused)}>
            {isPaused ? 'Continue' : 'Pause'}
          </Button>
        </>
      }
      calls={[{ method: 'POST', path: '/protect/verdicts/tail', body }]}
    >
      {error !== null && <RefusalNotice error={error} />}
      <Skipped rows={rows} href={addressOf('/console/verdicts', { ...siteParam(params), decision, range: '1h' })} />
      <p class="soft" role="status">
        {isPaused ? 'Paused: nothing is asked for.' : `Live, the newest ${TAIL_ROWS_MAX}.`}
      </p>
      <p class="hint tail-waiting">
        {isHeld &&
          (rows.waiting.length === 0
            ? 'The list stands still while you are in it.'
            : `${count(rows.waiting.length)} more above. They appear when you leave the list.`)}
      </p>
      <div
        onMouseEnter={() => setIsHeld(true)}
        onMouseLeave={() => setIsHeld(false)}
        onFocusIn={() => setIsHeld(true)}
        onFocusOut={() => setIsHeld(false)}
      >
        {hasStarted && rows.shown.length === 0 ? (
          <EmptyState title="Nothing has arrived yet">
            <p>The next request to the site appears here by itself.</p>
          </EmptyState>
        ) : (
          <VerdictTable verdicts={rows.shown} caption="Verdicts, the last to arrive first" />
        )}
      </div>
    </Page>
  );
}

function Skipped({ rows: { skipped }, href }: { rows: TailRows; href: string }) {
  if (!skipped.hasJumped && skipped.missed === 0) return null;
  return (
    <Warning>
      {skipped.hasJumped && 'More arrived than this page shows, so it went on from the newest. '}
      {skipped.missed > 0 && `${count(skipped.missed)} moved to the archive before this page asked. `}
      <a href={href}>The list of verdicts</a> has every one.
    </Warning>
  );
}
