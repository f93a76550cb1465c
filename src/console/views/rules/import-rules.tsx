/** Imports a list of any length: what it would do, then its progress, refused lines by number, and the way back. */
import { useRef, useState } from 'preact/hooks';
import { call, type Refusal } from '../../api/call.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Page, RefusalNotice, Section } from '../../components/page.tsx';
import { SelectField, TextField, TextFileField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { Table } from '../../components/table.tsx';
import { saveFile } from '../../components/download.tsx';
import { toast } from '../../components/toast.tsx';
import { VisitorText } from '../../components/values.tsx';
import { count, counted } from '../../format/numbers.ts';
import { siteOf, siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import { decisions } from '../../../contract/vocabulary.ts';
import { ImportPreview } from './import-preview.tsx';
import {
  importRuleFile,
  refusedFile,
  type ImportOptions,
  type ImportProgress,
  type RefusedLine,
} from './import-file.ts';

/** A file of 1,250,000 user agents has some 100 MB. */
const FILE_MAX_BYTES = 200_000_000;
const REFUSED_SHOWN_MAX = 200;

export default function ImportRules() {
  const [params] = useParams();
  const site = siteOf(params);
  const [file, setFile] = useState<string | null>(null);
  const [verdict, setVerdict] = useState<(typeof decisions)[number]>('block');
  const [note, setNote] = useState('');
  const [progress, setProgress] = useState<ImportProgress | null>(null);
  const [refused, setRefused] = useState<readonly RefusedLine[]>([]);
  const [state, setState] = useState<'ready' | 'running' | 'done' | 'stopped'>('ready');
  const [error, setError] = useState<Refusal | null>(null);
  const running = useRef<AbortController | null>(null);
  /** What the import began with. It goes on with the same, whatever the fields say by then. */
  const begun = useRef<Begun | null>(null);

  const choose = (chosen: string | null): void => {
    setState('ready');
    setProgress(null);
    setRefused([]);
    setError(null);
    setFile(chosen);
  };
  const run = async (what: Begun, after: ImportProgress | null): Promise<void> => {
    const controller = new AbortController();
    running.current = controller;
    begun.current = what;
    setState('running');
    if (after === null) setRefused([]);
    setError(null);
    const result = await importRuleFile({
      ...what,
      after,
      onProgress: setProgress,
      onRefused: (lines) => setRefused((former) => [...former, ...lines]),
      signal: controller.signal,
    });
    setState(result.ok && !controller.signal.aborted ? 'done' : 'stopped');
    setError(result.ok ? null : result.error);
  };
  /** The version to come back to is asked for now: it is another one after every change. */
  const start = async (text: string): Promise<void> => {
    setProgress(null);
    setState('running');
    const answer = await call('/protect/access-rules/history', { ...site, limit: 1 });
    if (answer.ok) {
      await run({ site, text, verdict, note, versionBefore: answer.value.version }, null);
      return;
    }
    setState('ready');
    setError(answer.error);
  };
  const rollBack = async ({ versionBefore, version }: ImportProgress): Promise<void> => {
    // After a lost response, the version that the import made is not known.
    const guard = error === null && version !== null ? { ifVersion: version } : {};
    const answer = await call('/protect/access-rules/rollback', { ...site, version: versionBefore, ...guard });
    setError(answer.ok ? null : answer.error);
    if (!answer.ok) return;
    setProgress(null);
    setState('ready');
    toast('The rules are as they were before the import.');
  };
  const isUncertain = state === 'stopped' && error?.status === 0;
  return (
    <Page
      title="Import rules"
      lead="CSV, NDJSON, or a plain list of addresses, networks and AS numbers with comments, as block lists are published."
      actions={<ButtonLink href={addressOf('/console/rules', siteParam(params))}>Back to the rules</ButtonLink>}
      calls={[{ method: 'POST', path: '/protect/access-rules/import', body: { ...site, content: '…', verdict } }]}
    >
      <Section title="File">
        <div class="form">
          <TextFileField
            label="Choose a file"
            accept=".csv,.txt,.ndjson,.jsonl,.list,.netset,.ipset,text/*"
            maxBytes={FILE_MAX_BYTES}
            isDisabled={state === 'running'}
            otherWay="Use npm run gatehouse -- rules import."
            onChoose={choose}
          />
          <SelectField
            label="Verdict of lines that name none"
            value={verdict}
            options={decisions}
            onChange={setVerdict}
            isDisabled={state === 'running'}
          />
          <TextField
            label="Note on every rule"
            hint="Where the list is from, so that you find its rules again."
            value={note}
            onInput={setNote}
            maxLength={forms.accessRule.note.maxLength}
            isDisabled={state === 'running'}
          />
          <div class="actions">
            <Button
              kind="primary"
              isDisabled={file === null || state === 'running'}
              onClick={() => file !== null && void start(file)}
            >
              Import
            </Button>
            {state === 'running' && <Button onClick={() => running.current?.abort()}>Stop</Button>}
          </div>
        </div>
      </Section>
      {file !== null && state === 'ready' && <ImportPreview file={{ site, text: file, verdict, note }} />}
      <RefusalNotice error={error} />
      {progress !== null && (
        <Section title={titles[state]}>
          <div class="stack" role="status">
            <progress max={progress.linesTotal} value={progress.lines} aria-label="Lines sent" />
            <p>
              {count(progress.lines)} of {counted(progress.linesTotal, 'line')}: {count(progress.created)} added,{' '}
              {count(progress.updated)} changed, {count(progress.unchanged)} as before, {count(progress.skipped)}{' '}
              refused.
            </p>
            {isUncertain && (
              <p>
                Whether the next piece arrived is not known. Continue sends it again: rules that are there already stay
                as they are.
              </p>
            )}
            {state !== 'running' && (
              <div class="actions">
                {state === 'stopped' && progress.lines < progress.linesTotal && begun.current !== null && (
                  <Button kind="primary" onClick={() => begun.current !== null && void run(begun.current, progress)}>
                    Continue
                  </Button>
                )}
                {(isUncertain || progress.created + progress.updated > 0) && (
                  <Button kind="danger" onClick={() => void rollBack(progress)}>
                    Undo: back to version {count(progress.versionBefore)}
                  </Button>
                )}
              </div>
            )}
          </div>
        </Section>
      )}
      {refused.length > 0 && <Refused lines={refused} total={progress?.skipped ?? refused.length} />}
    </Page>
  );
}

type Begun = Pick<ImportOptions, 'site' | 'text' | 'verdict' | 'note' | 'versionBefore'>;

const titles = { ready: 'Import', running: 'Importing', done: 'Imported', stopped: 'Stopped' } as const;

function Refused({ lines, total }: { lines: readonly RefusedLine[]; total: number }) {
  const save = (): void => {
    saveFile(new Blob([refusedFile(lines)], { type: 'text/plain' }), 'refused-lines.txt');
  };
  return (
    <Section
      title={`${counted(total, 'line was', 'lines were')} refused`}
      actions={<Button onClick={save}>Save them as a file</Button>}
    >
      <Table
        caption="Refused lines"
        rows={lines.slice(0, REFUSED_SHOWN_MAX)}
        keyOf={({ line }) => String(line)}
        columns={[
          { title: 'Line', isNumber: true, cell: ({ line }) => count(line) },
          { title: 'Why', isWide: true, isWrapped: true, cell: ({ reason }) => <VisitorText text={reason} /> },
          { title: 'Text', isWide: true, cell: ({ text }) => <VisitorText text={text} maxChars={100} /> },
        ]}
      />
      {lines.length > REFUSED_SHOWN_MAX && <p class="hint">The file has all of them.</p>}
    </Section>
  );
}
