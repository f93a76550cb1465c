/**
 * The text of a condition, with completions at the caret and the error at its place. It is a text area, because a
 * condition may be long, and HTML lets none have the role `combobox`: so it is a text box with the popup, the keys and
 * the active descendant of one.
 */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Completion, completionsAt, withCompletion } from './completions.ts';
import { parseExpression } from '../../../policies/text/parse.ts';
import { Button } from '../../components/button.tsx';
import { useRefusal } from '../../settings/form.tsx';
import { counted } from '../../format/numbers.ts';
import { errorText, marked } from './condition-place.ts';

/** Of a list that somebody reads through. More typing makes it shorter. */
const OPTIONS_MAX = 50;
/** A screen reader says what is wrong when somebody stops typing, and not with every letter. */
const SAID_AFTER_MS = 1000;

export interface ConditionFieldProps {
  value: string;
  onInput: (value: string) => void;
}

export function ConditionField({ value, onInput }: ConditionFieldProps) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const mirror = useRef<HTMLDivElement>(null);
  const [caret, setCaret] = useState(0);
  const [isOpen, setIsOpen] = useState(false);
  const [active, setActive] = useState<number | null>(null);
  const parsed = value.trim() === '' ? null : parseExpression(value);
  const error = parsed === null || parsed.ok ? null : parsed.error;
  const found = isOpen ? completionsAt(value, caret) : null;
  const options = found?.options.slice(0, OPTIONS_MAX) ?? [];
  // What is being typed is completed with Enter at once; elsewhere Enter begins a new line until an option is chosen.
  const chosen = active ?? (found !== null && found.typed !== '' && found.typed !== '"' ? 0 : null);
  const refused = useRefusal('when', 'Condition');
  const message = error === null ? (refused ?? '') : errorText(value, error);

  const follow = (): void => setCaret(area.current?.selectionStart ?? 0);
  const close = (): void => {
    setIsOpen(false);
    setActive(null);
  };
  const put = (text: string, at: number): void => {
    const { current } = area;
    if (current === null) return;
    current.value = text;
    current.setSelectionRange(at, at);
    current.focus();
    onInput(text);
    setCaret(at);
  };
  const take = (option: Completion): void => {
    if (found === null) return;
    const { text, caret: at } = withCompletion(value, found, option);
    put(text, at);
    setActive(null);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const isDown = event.key === 'ArrowDown' || event.key === 'ArrowUp';
    if (event.key === ' ' && event.ctrlKey) {
      follow();
      setIsOpen(true);
    } else if (options.length === 0) {
      if (isOpen) close();
      return;
    } else if (isDown) {
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const from = chosen ?? (step > 0 ? -1 : options.length);
      setActive((from + step + options.length) % options.length);
    } else if (event.key === 'Enter' && chosen !== null) take(options[chosen]!);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    document.getElementById(`${id}-${chosen ?? ''}`)?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <div class="field">
      <label for={id} class="unseen">
        Condition
      </label>
      <div class="condition-text">
        <div ref={mirror} class="condition-mirror mono" aria-hidden="true">
          {error !== null && <Mark text={value} error={error} />}
        </div>
        <textarea
          ref={area}
          id={id}
          class="mono"
          rows={3}
          value={value}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          placeholder='path startsWith "/login" and not cookie["seen"] exists'
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen === null || options.length === 0 ? undefined : `${id}-${chosen}`}
          aria-invalid={message !== ''}
          aria-describedby={`${id}-hint ${id}-error`}
          onInput={(event) => {
            onInput(event.currentTarget.value);
            follow();
            setIsOpen(true);
            setActive(null);
          }}
          onKeyDown={onKeyDown}
          onKeyUp={follow}
          onClick={() => {
            follow();
            close();
          }}
          onBlur={close}
          onScroll={() => mirror.current !== null && (mirror.current.scrollTop = area.current?.scrollTop ?? 0)}
        />
        <ul
          id={`${id}-list`}
          class="choice-list plain-list mono"
          role="listbox"
          aria-label="Completions"
          hidden={options.length === 0}
        >
          {options.map((option, at) => (
            <li
              key={option.label}
              id={`${id}-${at}`}
              role="option"
              aria-selected={at === chosen}
              onPointerDown={(event) => {
                // The text keeps the focus.
                event.preventDefault();
                take(option);
              }}
            >
              {option.label}
            </li>
          ))}
        </ul>
      </div>
      <p class="hint" id={`${id}-hint`}>
        Completions come as you type, or with Ctrl and the space bar. Arrow keys choose, Enter takes, Escape closes.
      </p>
      <div class="row">
        <p id={`${id}-error`} class="field-error">
          {message}
        </p>
        {error !== null && (
          <Button isSmall onClick={() => put(value, error.offset)}>
            Go to the place
          </Button>
        )}
      </div>
      <Said text={options.length > 0 ? counted(options.length, 'completion') : message} />
    </div>
  );
}

function Mark({ text, error }: { text: string; error: Parameters<typeof marked>[1] }) {
  const { before, bad, after } = marked(text, error);
  return (
    <>
      {before}
      <mark>{bad}</mark>
      {after}
    </>
  );
}

function Said({ text }: { text: string }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSaid(text), SAID_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <span class="unseen" role="status">
      {said}
    </span>
  );
}
