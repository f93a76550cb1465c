/** Any of a few values, as a field that opens a list of boxes. Nothing chosen means all of them. */
import { useEffect, useId, useRef } from 'preact/hooks';
import { namedOption, type Option } from './field.tsx';

export interface ChoiceFieldProps {
  label: string;
  options: readonly Option<string>[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

export function ChoiceField({ label, options: given, chosen, onChange }: ChoiceFieldProps) {
  const options = given.map(namedOption);
  const id = useId();
  const details = useRef<HTMLDetailsElement>(null);
  const close = () => details.current?.removeAttribute('open');
  useEffect(() => {
    const onPress = ({ target }: Event) => {
      if (details.current?.contains(target as Node) === false) close();
    };
    addEventListener('pointerdown', onPress);
    return () => removeEventListener('pointerdown', onPress);
  }, []);
  const set = (value: string, isChosen: boolean) =>
    onChange(options.map(([one]) => one).filter((one) => (one === value ? isChosen : chosen.includes(one))));
  return (
    <div class="field">
      <span id={`${id}-label`} class="field-label">
        {label}
      </span>
      <details
        ref={details}
        class="choice"
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          close();
          details.current?.querySelector('summary')?.focus();
        }}
        onFocusOut={({ relatedTarget }) => {
          // A click on a label takes the focus to nowhere for a moment.
          if (relatedTarget !== null && details.current?.contains(relatedTarget as Node) === false) close();
        }}
      >
        <summary id={`${id}-value`} aria-labelledby={`${id}-label ${id}-value`}>
          <span>{chosen.length === 0 ? 'any' : chosen.join(', ')}</span>
        </summary>
        <fieldset class="choice-list">
          <legend class="unseen">{label}</legend>
          {options.map(([value, text]) => (
            <label key={value}>
              <input
                type="checkbox"
                checked={chosen.includes(value)}
                onChange={(event) => set(value, event.currentTarget.checked)}
              />
              {text}
            </label>
          ))}
        </fieldset>
      </details>
    </div>
  );
}
