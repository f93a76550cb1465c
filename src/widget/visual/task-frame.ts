/**
 * The frame around every task, the same in the widget, the dialog and the challenge page: instruction, the task itself,
 * a button to submit, one for a new task and one for the other kind, why the visitor sees this, and the site's page on
 * privacy. The instruction gets the focus, so that a screen reader reads it once and the next Tab reaches the task.
 */
import type { TaskMessages } from '../../locales/messages.ts';
import { drawing, element, styleShadow } from '../dom/elements.ts';
import { CaptchaError } from '../token/captcha-error.ts';
import type { VisualOutcome, VisualTask } from './visual-module.ts';
import { visualStyle } from './visual-style.ts';

const NEW_ICON = 'M20 12a8 8 0 1 1-2.500-5.800L20 8.500M20 3.500v5h-5';
const SOUND_ICON = 'M4 9.500v5h3.500L12 19V5L7.500 9.500zM15.500 9a4 4 0 0 1 0 6M18 6a8 8 0 0 1 0 12';
const PICTURE_ICON = 'M4 5h16v14H4zM4 16l4.500-4.500L13 16l3-3 4 4M15 9h.01';

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
  { wrong, signal, challenge, privacyUrl }: VisualTask,
  messages: TaskMessages,
  texts: FrameTexts,
  solution: () => Record<string, unknown> | null,
): TaskFrame {
  const isAudio = challenge.audio !== undefined;
  const host = element('div', { class: 'task' });
  const root = host.attachShadow({ mode: 'open' });
  styleShadow(root, visualStyle);
  const instruction = element('p', { tabindex: '-1', id: 'instruction' });
  if (wrong) instruction.append(element('span', { class: 'wrong' }, messages.wrong), ' ');
  instruction.append(...texts.instruction);
  const form = element('form', { novalidate: '' });
  const body = element('div', { class: 'body' });
  const go = element('button', { class: 'go', type: 'submit' }, messages.submit);
  const row = element('div', { class: 'choices' });
  const again = choice(NEW_ICON, messages.again);
  const other = choice(isAudio ? PICTURE_ICON : SOUND_ICON, texts.other);
  row.append(again, other);
  form.append(body, go, row);
  root.append(instruction, form, reason(messages, privacyUrl));
  panel.replaceChildren(host);
  instruction.focus();

  let settle!: (outcome: VisualOutcome) => void;
  const done = new Promise<VisualOutcome>((resolve, reject) => {
    settle = (outcome) => {
      host.setAttribute('aria-busy', 'true');
      // Not `disabled`, which would take the focus from the button that was pressed.
      for (const control of form.querySelectorAll('button,input')) control.setAttribute('aria-disabled', 'true');
      resolve(outcome);
    };
    signal.addEventListener('abort', () => {
      host.remove();
      reject(new CaptchaError('cancelled'));
    });
  });
  const submit = (): void => {
    const value = host.hasAttribute('aria-busy') ? null : solution();
    if (value !== null) settle({ solution: value });
  };
  // The form is only for the Enter key and is never sent.
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    event.stopPropagation();
    submit();
  });
  again.addEventListener('click', () => settle({ anew: isAudio }));
  other.addEventListener('click', () => settle({ solution: { audio: !isAudio } }));
  return { body, messages, done, submit };
}

function choice(icon: string, label: string): HTMLButtonElement {
  const button = element('button', { class: 'choice', type: 'button' });
  button.append(drawing({ class: 'icon', viewBox: '0 0 24 24' }, 'path', { d: icon }), element('span', {}, label));
  return button;
}

function reason(messages: TaskMessages, privacyUrl: string | undefined): HTMLElement {
  const footer = element('div', { class: 'foot' });
  const details = element('details');
  details.append(element('summary', {}, messages.why), element('p', {}, messages.reason));
  footer.append(details);
  // The page would lose what the visitor has filled in, so the link opens a tab of its own.
  if (privacyUrl !== undefined && /^(?:https:\/)?\//.test(privacyUrl))
    footer.append(element('a', { href: privacyUrl, target: '_blank', rel: 'noopener' }, messages.privacy));
  return footer;
}
