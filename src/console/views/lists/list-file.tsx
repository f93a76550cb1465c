/** The field for the file of a list. */
import { useId, useState } from 'preact/hooks';
import { count } from '../../format/numbers.ts';

/** As the service takes them. */
const FILE_MAX_BYTES = 16_000_000;

/** @param onChoose the text; `null`: there is none, or it is too large. */
export function ListFile({ onChoose }: { onChoose: (text: string | null) => void }) {
  const id = useId();
  const [isTooLarge, setIsTooLarge] = useState(false);
  const choose = async (file: File | undefined): Promise<void> => {
    const fits = file === undefined || file.size <= FILE_MAX_BYTES;
    setIsTooLarge(!fits);
    onChoose(file === undefined || !fits ? null : await file.text());
  };
  return (
    <div class="field">
      <label for={id}>Choose the file</label>
      <input
        id={id}
        type="file"
        aria-describedby={isTooLarge ? `${id}-error` : undefined}
        onChange={(event) => void choose(event.currentTarget.files?.[0])}
      />
      {isTooLarge && (
        <p class="field-error" id={`${id}-error`}>
          It is larger than {count(FILE_MAX_BYTES / 1_000_000)} MB.
        </p>
      )}
    </div>
  );
}
