/** Builds the instance's log again from its files, step by step, with what was skipped. */
import { useState } from 'preact/hooks';
import { call, type Refusal } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { RefusalNotice } from '../../components/page.tsx';
import type { Instance } from '../../frame/instances.ts';
import { count } from '../../format/numbers.ts';

interface Progress {
  rows: number;
  segments: number;
  skipped: { object: string; reason: string }[];
  isOver: boolean;
}

export function RebuildLog({ instance: { globalSiteKey: siteKey } }: { instance: Instance }) {
  const [isAsking, setIsAsking] = useState(false);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const rebuild = async (): Promise<void> => {
    setIsAsking(false);
    setError(null);
    const sum: Progress = { rows: 0, segments: 0, skipped: [], isOver: false };
    let cursor: string | undefined;
    do {
      setProgress({ ...sum });
      const step = await call('/protect/log/rebuild', { siteKey, ...(cursor === undefined ? {} : { cursor }) });
      if (!step.ok) {
        setError(step.error);
        setProgress(null);
        return;
      }
      sum.rows += step.value.rows;
      sum.segments += step.value.segments;
      sum.skipped = [...sum.skipped, ...step.value.skipped];
      cursor = step.value.nextCursor ?? undefined;
    } while (cursor !== undefined);
    setProgress({ ...sum, isOver: true });
  };
  const isRunning = progress !== null && !progress.isOver;
  return (
    <div class="stack">
      <RefusalNotice error={error} />
      <p>
        Sealed verdicts are Parquet files. Index and counts can be built again from them, for example when queries miss
        what the files hold. Until the rebuild ends, queries do not see everything.
      </p>
      <div class="actions">
        <Button
          isBusy={isRunning}
          isDisabled={isRunning || !may('updateProtectSettings')}
          onClick={() => setIsAsking(true)}
        >
          Rebuild the log…
        </Button>
      </div>
      {progress !== null && (
        <div role="status">
          <p>
            {progress.isOver ? 'Rebuilt' : 'Read'} {count(progress.rows)} rows from {count(progress.segments)} files.
          </p>
          {progress.skipped.length > 0 && (
            <>
              <p>Skipped files, which are still in the bucket:</p>
              <ul>
                {progress.skipped.map(({ object, reason }) => (
                  <li key={object}>
                    <code>{object}</code>: {reason}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      )}
      {isAsking && (
        <Confirm
          title="Rebuild the log?"
          verb="Rebuild"
          onClose={() => setIsAsking(false)}
          onConfirm={() => void rebuild()}
        >
          <p>Keep this page open until it ends. If it is interrupted, start it again.</p>
        </Confirm>
      )}
    </div>
  );
}
