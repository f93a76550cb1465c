/** What needs a look first: a list is enforced, or the content of one that is a file is replaced. */
import { useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { CreateDialog } from '../../components/dialog.tsx';
import { CheckField, TextFileField } from '../../components/field.tsx';
import { RefusalNotice } from '../../components/page.tsx';
import type { List } from './list-draft.ts';
import { ListPreview, type PreviewedList } from './list-report.tsx';
import { counted } from '../../format/numbers.ts';

/** As the service takes them. */
const FILE_MAX_BYTES = 16_000_000;

/** A field for a file, and a preview of a list: with that file, or as it is at its source. Another file hides it. */
function usePreviewed(site: { siteKey?: string }, name: string) {
  const [content, setContent] = useState<string | null>(null);
  const [preview, setPreview] = useState<PreviewedList | null>(null);
  const { isBusy, error, run } = useAction();
  const look = async (): Promise<void> => {
    const file = content === null ? {} : { content };
    const found = await run(call('/protect/lists/preview', { ...site, name, ...file }));
    if (found !== null) setPreview(found);
  };
  const choose = (text: string | null): void => {
    setContent(text);
    setPreview(null);
  };
  return {
    content,
    isPreviewed: preview !== null,
    fileField: <TextFileField label="Choose the file" maxBytes={FILE_MAX_BYTES} onChoose={choose} />,
    previewOf: (isReady: boolean) => (
      <>
        <RefusalNotice error={error} />
        <div class="actions">
          <Button isBusy={isBusy} isDisabled={!isReady} onClick={() => void look()}>
            Preview
          </Button>
        </div>
        {preview !== null && <ListPreview preview={preview} />}
      </>
    ),
  };
}

export interface ReplaceFileProps {
  site: { siteKey?: string };
  list: List;
  onClose: () => void;
  onDone: (list: List) => void;
}

/** Replaces the content of a list that is a file: what is not in the new file leaves. */
export function ReplaceFile({ site, list: { name, maxChangePercent }, onClose, onDone }: ReplaceFileProps) {
  const { content, fileField, previewOf } = usePreviewed(site, name);
  const [acceptChange, setAcceptChange] = useState(false);
  return (
    <CreateDialog
      title={`Replace the file of ${name}`}
      verb="Replace"
      isWide
      isComplete={content !== null}
      send={() => call('/protect/lists/replace', { ...site, name, content: content ?? '', acceptChange })}
      onMade={onDone}
      onClose={onClose}
    >
      <p>The file becomes the whole content of the list. What is not in it leaves.</p>
      {fileField}
      {previewOf(content !== null)}
      {maxChangePercent < 100 && (
        <CheckField
          label={`Accept a change of more than ${maxChangePercent} %, or one that covers much of the internet`}
          isChecked={acceptChange}
          onChange={setAcceptChange}
        />
      )}
    </CreateDialog>
  );
}

export interface EnforceListProps {
  site: { siteKey?: string };
  list: List;
  onClose: () => void;
  onDone: () => void;
}

/** Enforces a list, after a preview: what it has now, and what it would have done to the requests of the last day. */
export function EnforceList({ site, list: { name, url, entries, verdict }, onClose, onDone }: EnforceListProps) {
  const { content, isPreviewed, fileField, previewOf } = usePreviewed(site, name);
  const [isWithout, setIsWithout] = useState(false);
  return (
    <CreateDialog
      title={`Enforce ${name}?`}
      verb="Enforce"
      isWide
      isComplete={isPreviewed || isWithout}
      send={() => call('/protect/lists/update', { ...site, name, mode: 'enforce' })}
      onMade={onDone}
      onClose={onClose}
    >
      <p>
        {counted(entries, 'entry', 'entries')} in force will say {verdict}. Rules of your own for the same network win.
      </p>
      {url === null && (
        <>
          <p class="hint">The service keeps no file, so choose it again for a preview.</p>
          {fileField}
        </>
      )}
      {previewOf(url !== null || content !== null)}
      {!isPreviewed && <CheckField label="Enforce without a preview" isChecked={isWithout} onChange={setIsWithout} />}
    </CreateDialog>
  );
}
