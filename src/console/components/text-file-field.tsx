/** A field for a file of text that the page reads. */
import { useId, useState } from 'preact/hooks';
import { count } from '../format/numbers.ts';

export interface TextFileFieldProps {
  label: string;
  maxBytes: number;
  accept?: string;
  isDisabled?: boolean;
  /** What to do with a file that is too large. */
  otherWay?: string;
  /** `null`: there is none, or it is too large. */
  onChoose: (text: string | null) => void;
}

export function TextFileField({ label, maxBytes, accept, isDisabled, otherWay, onChoose }: TextFileFieldProps) {
  const id = useId();
  const [isTooLarge, setIsTooLarge] = useState(false);
  const choose = async (file: File | undefined): Promise<void> => {
    const fits = file === undefined || file.size <= maxBytes;
    setIsTooLarge(!fits);
    onChoose(file === undefined || !fits ? null : await file.text());
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept={accept}
        disabled={isDisabled}
        aria-describedby={isTooLarge ? `${id}-error` : undefined}
        onChange={(event) => void choose(event.currentTarget.files?.[0])}
      />
      {isTooLarge && (
        <p class="field-error" id={`${id}-error`}>
          It is larger than {count(maxBytes / 1_000_000)} MB. {otherWay}
        </p>
      )}
    </div>
  );
}
