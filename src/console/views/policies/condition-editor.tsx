/** The condition of a policy, as rows or as text. The text is what is kept, so nothing is lost between the two. */
import { useState } from 'preact/hooks';
import { ConditionField, type ConditionFieldProps } from './condition-field.tsx';
import { ConditionRowsField } from './condition-rows-field.tsx';
import { type ConditionRows, rowsOfText, textOfRows } from './condition-rows.ts';

const ways = [
  ['rows', 'Rows'],
  ['text', 'Text'],
] as const;

export function ConditionEditor({ value, onInput }: ConditionFieldProps) {
  // Rows that are not filled in are more than their text says.
  const [written, setWritten] = useState<{ text: string; rows: ConditionRows } | null>(null);
  const rows = written?.text === value ? written.rows : rowsOfText(value);
  const [way, setWay] = useState<'rows' | 'text'>(rows === null ? 'text' : 'rows');
  const write = (next: ConditionRows): void => {
    const text = textOfRows(next);
    setWritten({ text, rows: next });
    onInput(text);
  };
  return (
    <div class="stack">
      <div class="row condition-head">
        <span class="field-label">Condition</span>
        <div class="range" role="group" aria-label="The condition as">
          {ways.map(([one, words]) => (
            <button key={one} type="button" aria-pressed={one === way} onClick={() => setWay(one)}>
              {words}
            </button>
          ))}
        </div>
        <span class="hint">Paste a condition, also one of Cloudflare, as text.</span>
      </div>
      {way === 'rows' ? (
        <ConditionRowsField value={value} rows={rows} onChange={write} />
      ) : (
        <ConditionField value={value} onInput={onInput} />
      )}
    </div>
  );
}
