/**
 * What visitors see and hear of the widget: a check box with a progress ring, a line of text, a live region. Shows the
 * state that the element sets.
 */
import { drawing, element } from '../dom/create-element.ts';
import { styleShadow } from '../dom/shadow-style.ts';
import type { ErrorState } from '../token/captcha-error.ts';
import { widgetStyle } from './widget-style.ts';
import { english, type LocalisedWidget } from '../loading/load-messages.ts';

export type WidgetState = 'idle' | 'working' | 'task' | 'verified' | ErrorState;

export interface WidgetView {
  /** Where a picture task is shown. */
  readonly panel: HTMLElement;
  show(state: WidgetState): void;
  progress(done: number): void;
  translate(language: LocalisedWidget): void;
}

export function createView(host: HTMLElement, onActivate: () => void): WidgetView {
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
  const live = element('p', { role: 'status' });
  const panel = element('div', { class: 'panel', part: 'panel' });
  panel.hidden = true;
  control.append(ring, drawing({ class: 'mark', viewBox: '0 0 36 36' }, 'path', { d: 'M6 19l8 8 16-18' }));
  box.append(control, label);
  root.append(box, live, panel);
  control.addEventListener('click', onActivate);

  let { messages } = english;
  let state: WidgetState = 'idle';

  function write(announce: boolean): void {
    const text = messages[state === 'idle' ? 'prompt' : state];
    label.textContent = box.dataset['state'] === 'failed' ? `${text} – ${messages.retry}` : text;
    if (announce) live.textContent = text;
  }

  return {
    panel,
    show(next) {
      const announce = next !== state && next !== 'idle';
      state = next;
      box.dataset['state'] = next === 'expired' || next === 'offline' ? 'failed' : next === 'task' ? 'working' : next;
      control.setAttribute('aria-checked', String(next === 'verified'));
      control.setAttribute('aria-busy', String(next === 'working'));
      panel.hidden = next !== 'task';
      if (next === 'idle') live.textContent = '';
      write(announce);
    },
    progress(done) {
      ring.style.setProperty('--done', done.toFixed(2));
    },
    translate(language) {
      ({ messages } = language);
      box.lang = language.tag;
      box.dir = language.direction;
      write(false);
    },
  };
}
