/** Replaces the content of a list that is a file: what is not in the new file leaves. */
import { useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { CheckField } from '../../components/field.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import type { List } from './list.ts';
import { ListFile } from './list-file.tsx';
import { ListPreview, type Preview } from './list-preview.tsx';

export interface ReplaceFileProps {
  site: { siteKey?: string };
  list: List;
  onClose: () => void;
  onDone: (list: List) => void;
}

export function ReplaceFile({ site, list: { name, maxChangePercent }, onClose, onDone }: ReplaceFileProps) {
  const [content, setContent] = useState<string | null>(null);
  const [acceptChange, setAcceptChange] = useState(false);
  const [preview, setPreview] = useState<Preview | null>(null);
  const { isBusy, error, run } = useAction();
  const look = async (): Promise<void> => {
    if (content === null) return;
    const found = await run(call('/protect/lists/preview', { ...site, name, content }));
    if (found !== null) setPreview(found);
  };
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
      <ListFile
        onChoose={(text) => {
          setContent(text);
          setPreview(null);
        }}
      />
      <RefusalNotice error={error} />
      <div class="actions">
        <Button isBusy={isBusy} isDisabled={content === null} onClick={() => void look()}>
          Preview
        </Button>
      </div>
      {preview !== null && <ListPreview preview={preview} />}
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
