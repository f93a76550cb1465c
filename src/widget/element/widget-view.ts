/**
 * What visitors see and hear of the widget: a check box with a progress ring, a line of text, a live region, and the
 * dialog of a task. Shows the state that the element sets.
 */
import type { DialogModule, DialogPlace, TaskDialog } from '../dialog/task-dialog.ts';
import { drawing, element, styleShadow } from '../dom/elements.ts';
import type { ErrorState } from '../token/captcha-error.ts';
import { widgetStyle } from './widget-style.ts';
import { english, type LocalisedWidget } from '../loading/load-messages.ts';

/** `waiting`: a task is needed, and the visitor has not asked for it yet. `task`: they solve it now. */
export type WidgetState = 'idle' | 'working' | 'waiting' | 'task' | 'verified' | ErrorState;

export interface WidgetView {
  readonly state: WidgetState;
  readonly isTaskOpen: boolean;
  /** The dialog for tasks, once its script is there. Tasks and failures are shown in it from then on. */
  dialog(module: DialogModule): TaskDialog;
  show(state: WidgetState): void;
  progress(done: number): void;
  translate(language: LocalisedWidget): void;
}

/** States that look like another one. */
const looks: Partial<Record<WidgetState, string>> = {
  expired: 'failed',
  offline: 'failed',
  task: 'waiting',
};

const isShown = (node: Element): boolean => node.getClientRects().length > 0;

export function createView(
  host: HTMLElement,
  shade: () => 'light' | 'dark',
  onActivate: () => void,
  onCancel: () => void,
): WidgetView {
  const root = host.attachShadow({ mode: 'open' });
  styleShadow(root, widgetStyle);

  const box = element('div', { class: 'box', part: 'box' });
  const control = element('button', {
    type: 'button',
    role: 'checkbox',
    id: 'c',
    'aria-checked': 'false',
    'aria-labelledby': 'l',
  });
  const ring = drawing({ class: 'ring', viewBox: '0 0 36 36' }, 'circle', {
    cx: '18',
    cy: '18',
    r: '16',
    pathLength: '100',
  });
  const label = element('label', { id: 'l', for: 'c', part: 'label' });
  const live = element('p', { class: 'live', role: 'status' });
  control.append(ring, drawing({ class: 'mark', viewBox: '0 0 36 36' }, 'path', { d: 'M6 19l8 8 16-18' }));
  box.append(control, label);
  root.append(box, live);
  control.addEventListener('click', onActivate);

  let dialog: TaskDialog | undefined;
  let language = english;
  let state: WidgetState = 'idle';

  /** A page may hide an invisible widget with everything around it, and a dialog in there would not be seen. */
  function place(): DialogPlace {
    if (isShown(box)) return { parent: root, box };
    return isShown(host) ? { parent: root } : { parent: document.body, theme: shade() };
  }

  function text(): string {
    return language.messages[state === 'idle' ? 'prompt' : state === 'waiting' ? 'task' : state];
  }

  function writeLabel(): void {
    const isFailed = box.dataset['state'] === 'failed';
    label.textContent = isFailed ? `${text()} – ${language.messages.retry}` : text();
  }

  return {
    get state() {
      return state;
    },
    get isTaskOpen() {
      return dialog?.isOpen === true;
    },
    dialog: (module) => (dialog ??= module.createTaskDialog(language, place, onCancel)),
    show(next) {
      const wasOpen = dialog?.isOpen === true;
      const changed = next !== state && next !== 'idle';
      state = next;
      box.dataset['state'] = looks[next] ?? next;
      control.setAttribute('aria-checked', String(next === 'verified'));
      control.setAttribute('aria-busy', String(next === 'working'));
      writeLabel();
      if (next === 'task') dialog?.open();
      if (next === 'task' || (next === 'working' && wasOpen)) dialog?.show(next);
      else dialog?.close();
      // A screen reader reads the dialog, and reads the box when the dialog gives the focus back to it.
      const isHeard = dialog?.isOpen === true || (wasOpen && root.activeElement === control);
      if (changed) live.textContent = isHeard ? '' : text();
      else if (next === 'idle') live.textContent = '';
    },
    progress(done) {
      ring.style.setProperty('--done', done.toFixed(2));
      dialog?.progress(done);
    },
    translate(next) {
      language = next;
      box.lang = language.tag;
      box.dir = language.direction;
      dialog?.translate(language);
      writeLabel();
    },
  };
}
