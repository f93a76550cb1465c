/** Enforces a list, after a preview: what it has now, and what it would have done to the requests of the last day. */
import { useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { CheckField } from '../../components/field.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { counted } from '../../format/numbers.ts';
import type { List } from './list.ts';
import { ListFile } from './list-file.tsx';
import { ListPreview, type Preview } from './list-preview.tsx';

export interface EnforceListProps {
  site: { siteKey?: string };
  list: List;
  onClose: () => void;
  onDone: () => void;
}

export function EnforceList({ site, list: { name, url, entries, verdict }, onClose, onDone }: EnforceListProps) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [content, setContent] = useState<string | null>(null);
  const [isWithout, setIsWithout] = useState(false);
  const { isBusy, error, run } = useAction();
  const look = async (): Promise<void> => {
    const found = await run(
      call('/protect/lists/preview', { ...site, name, ...(content === null ? {} : { content }) }),
    );
    if (found !== null) setPreview(found);
  };
  return (
    <CreateDialog
      title={`Enforce ${name}?`}
      verb="Enforce"
      isWide
      isComplete={preview !== null || isWithout}
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
          <ListFile
            onChoose={(text) => {
              setContent(text);
              setPreview(null);
            }}
          />
        </>
      )}
      <RefusalNotice error={error} />
      <div class="actions">
        <Button isBusy={isBusy} isDisabled={url === null && content === null} onClick={() => void look()}>
          Preview
        </Button>
      </div>
      {preview !== null && <ListPreview preview={preview} />}
      {preview === null && (
        <CheckField label="Enforce without a preview" isChecked={isWithout} onChange={setIsWithout} />
      )}
    </CreateDialog>
  );
}
