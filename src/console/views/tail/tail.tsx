/** Verdicts as they arrive. The list stands still while the pointer or the focus is in it. */
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { EmptyState, Page, RefusalNotice, Warning } from '../../components/page.tsx';
import { count } from '../../format/numbers.ts';
import { whenKnown } from '../../frame/instances.ts';
import { addressOf, useParams, useWindow } from '../../url/params.ts';
import { VerdictFilters } from '../verdicts/verdicts.tsx';
import { TAIL_ROWS_MAX, tailBody, tailFilters } from '../verdicts/verdict-filters.ts';
import { OwnCallsSwitch } from '../verdicts/own-calls.tsx';
import { VerdictTable } from '../verdicts/verdict-table.tsx';
import { type TailRows, useTail } from './use-tail.ts';

export default function LiveTail() {
  const [params] = useParams();
  const window = useWindow();
  const [isPaused, setIsPaused] = useState(false);
  const [isHeld, setIsHeld] = useState(false);
  const body = tailBody(params);
  const { rows, error, hasStarted } = useTail(whenKnown(body), { isPaused, isHeld });
  return (
    <Page
      title="Live tail"
      lead="Verdicts as they arrive, a second or two after their requests."
      actions={
        <>
          <OwnCallsSwitch />
          <Button kind={isPaused ? 'primary' : 'plain'} onClick={() => setIsPaused(!isPaused)}>
            {isPaused ? 'Continue' : 'Pause'}
          </Button>
        </>
      }
      calls={[{ method: 'POST', path: '/protect/verdicts/tail', body }]}
    >
      <VerdictFilters filters={tailFilters} window={window} />
      <RefusalNotice error={error} />
      <Skipped rows={rows} href={addressOf('/console/verdicts', { ...params, range: '1h' })} />
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
        class="tail-list"
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
          <VerdictTable
            verdicts={rows.shown}
            caption="Verdicts, the last to arrive first"
            hrefOf={(filter) => addressOf('/console/tail', { ...params, ...filter })}
          />
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
