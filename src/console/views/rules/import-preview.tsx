/** What an import would change, and what its rules would have done, before anything is changed. */
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { Refusal } from '../../api/send.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/facts.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { count } from '../../format/numbers.ts';
import { PreviewResult } from './preview.tsx';
import type { Preview } from './preview.tsx';

const EFFECTS_SHOWN_MAX = 20;

/** `body`: the import as one call; another one clears the result. */
export function ImportPreview({ body }: { body: RequestOf<'/protect/access-rules/preview'> }) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const [running, setRunning] = useState<AbortController | null>(null);
  useEffect(() => {
    setPreview(null);
    setError(null);
  }, [body.content, body.verdict, body.siteKey]);
  const look = async (): Promise<void> => {
    const controller = new AbortController();
    setRunning(controller);
    try {
      const answer = await call('/protect/access-rules/preview', body, controller.signal);
      setError(answer.ok ? null : answer.error);
      if (answer.ok) setPreview(answer.value);
    } catch {
      // Only a stopped call throws.
    } finally {
      setRunning(null);
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
      {error !== null && <RefusalNotice error={error} />}
      {preview === null ? (
        <p class="soft">See what the list would change and whom it would have met, before you import it.</p>
      ) : (
        <div class="stack">
          <p role="status">
            {count(preview.plan.added)} rules would be added, {count(preview.plan.changed)} changed,{' '}
            {count(preview.plan.unchanged)} stay as they are, {count(preview.plan.refused)}{' '}
            {preview.plan.refused === 1 ? 'line is' : 'lines are'} no rule.
          </p>
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
