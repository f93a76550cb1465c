/** What an import would change, and what its rules would have done, before anything is changed. */
import { useEffect, useState } from 'preact/hooks';
import type { Refusal } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { RefusalNotice, Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { VisitorText } from '../../components/values.tsx';
import { count, counted } from '../../format/numbers.ts';
import { PreviewResult } from './preview.tsx';
import { previewFile, type FilePreview, type FilePreviewProgress, type PreviewedFile } from './preview-file.ts';

const EFFECTS_SHOWN_MAX = 20;

/** Another file, verdict or instance clears the result. */
export function ImportPreview({ file }: { file: PreviewedFile }) {
  const [preview, setPreview] = useState<FilePreview | null>(null);
  const [progress, setProgress] = useState<FilePreviewProgress | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const [running, setRunning] = useState<AbortController | null>(null);
  useEffect(() => {
    setPreview(null);
    setProgress(null);
    setError(null);
  }, [file.text, file.verdict, file.site.siteKey]);
  const look = async (): Promise<void> => {
    const controller = new AbortController();
    setRunning(controller);
    try {
      const answer = await previewFile(file, setProgress, controller.signal);
      setError(answer.ok ? null : answer.error);
      if (answer.ok) setPreview(answer.value);
    } catch {
      // Only a stopped call throws.
    } finally {
      setRunning(null);
      setProgress(null);
    }
  };
  return (
    <Section
      title="Preview"
      actions={
        running === null ? (
          <Button onClick={() => void look()}>Preview</Button>
        ) : (
          <Button onClick={() => running.abort()}>Stop looking</Button>
        )
      }
    >
      <RefusalNotice error={error} />
      {progress !== null && (
        <div class="stack" role="status">
          <progress max={progress.linesTotal} value={progress.lines} aria-label="Lines looked at" />
          <p>
            {count(progress.lines)} of {count(progress.linesTotal)} lines looked at. Nothing is changed.
          </p>
        </div>
      )}
      {preview === null ? (
        <p class="soft">See what the list would change and whom it would have met, before you import it.</p>
      ) : (
        <div class="stack">
          <p role="status">
            {counted(preview.plan.added, 'rule')} would be added, {count(preview.plan.changed)} changed,{' '}
            {count(preview.plan.unchanged)} stay as they are, {counted(preview.plan.refused, 'line is', 'lines are')} no
            rule.
          </p>
          {preview.isInPieces && (
            <p class="soft">A rule that stands in the file more than once may count more than once here.</p>
          )}
          <PreviewResult preview={preview} />
          {preview.effects.length > 0 && (
            <Table
              caption="Rules that would have met most requests"
              rows={preview.effects.slice(0, EFFECTS_SHOWN_MAX)}
              keyOf={({ rule }) => rule}
              columns={[
                { title: 'Rule', isWide: true, cell: ({ rule }) => <VisitorText text={rule} maxChars={60} /> },
                { title: 'Requests', isNumber: true, cell: ({ requests }) => count(requests) },
                { title: 'Visitors', isNumber: true, cell: ({ visitors }) => count(visitors) },
                {
                  title: 'Decided otherwise',
                  cell: ({ changes }) =>
                    changes
                      .filter(({ from, to }) => from !== to)
                      .map(({ from, to, requests }) => `${from} → ${to}: ${count(requests)}`)
                      .join(', ') || 'none',
                },
              ]}
            />
          )}
        </div>
      )}
    </Section>
  );
}
