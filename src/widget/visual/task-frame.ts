/**
 * The frame around every task: instruction, submit button, and a button for the other kind of task. The instruction
 * gets the focus, so that a screen reader reads it and the next Tab reaches the task.
 */
import type { TaskMessages } from '../../locales/messages.ts';
import { element } from '../dom/create-element.ts';
import { styleShadow } from '../dom/shadow-style.ts';
import { CaptchaError } from '../token/captcha-error.ts';
import type { VisualOutcome, VisualTask } from './visual-module.ts';
import { visualStyle } from './visual-style.ts';

export interface TaskFrame {
  /** Where the task's own controls go. */
  body: HTMLElement;
  messages: TaskMessages;
  done: Promise<VisualOutcome>;
  submit(): void;
}

export interface FrameTexts {
  instruction: (string | Node)[];
  /** Label of the button for the other kind of task. */
  other: string;
}

/** `solution` is called when the visitor submits; `null` means that the task is not finished. */
export function createFrame(
  panel: HTMLElement,
  { wrong, signal, challenge }: VisualTask,
  messages: TaskMessages,
  texts: FrameTexts,
  solution: () => Record<string, unknown> | null,
): TaskFrame {
  const host = element('div');
  const root = host.attachShadow({ mode: 'open' });
  styleShadow(root, visualStyle);
  const instruction = element('p', { tabindex: '-1', id: 'instruction' });
  if (wrong) instruction.append(element('span', { class: 'wrong' }, `${messages.wrong} `));
  instruction.append(...texts.instruction);
  const form = element('form', { 'aria-labelledby': 'instruction', novalidate: '' });
  const body = element('div');
  const row = element('div', { class: 'row' });
  const go = element('button', { class: 'go', type: 'submit' }, messages.submit);
  const other = element('button', { class: 'other', type: 'button' }, texts.other);
  row.append(go, other);
  form.append(body, row);
  root.append(instruction, form);
  panel.replaceChildren(host);
  instruction.focus();

  let settle!: (outcome: VisualOutcome) => void;
  const done = new Promise<VisualOutcome>((resolve, reject) => {
    settle = resolve;
    signal.addEventListener('abort', () => reject(new CaptchaError('cancelled')));
  }).finally(() => host.remove());
  const submit = (): void => {
    const value = solution();
    if (value !== null) settle({ solution: value });
  };
  // The form is only for the Enter key and is never sent.
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    event.stopPropagation();
    submit();
  });
  other.addEventListener('click', () => settle({ audio: challenge.audio === undefined }));
  return { body, messages, done, submit };
}
