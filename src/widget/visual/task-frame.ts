/**
 * What the three tasks share: instruction, the way to the other form of the task, submit. Focus goes
 * to the instruction, so that it is read out and the next Tab reaches the task.
 */
import type { TaskMessages } from '../../locales/messages.ts';
import { styleShadow } from '../element/shadow-style.ts';
import { CaptchaError } from '../captcha-error.ts';
import type { VisualOutcome, VisualTask } from '../visual-module.ts';
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
  /** Of the button that leads to the other form. */
  other: string;
}

/** `solution` is asked when the visitor submits; `null` means not ready yet. */
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
  // The form is only for the Enter key; `preventDefault` keeps it from going anywhere.
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    event.stopPropagation();
    submit();
  });
  other.addEventListener('click', () => settle({ audio: challenge.audio === undefined }));
  return { body, messages, done, submit };
}

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string> = {},
  text = '',
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== '') node.textContent = text;
  return node;
}
