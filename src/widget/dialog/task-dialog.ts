/**
 * The modal dialog around a task: heading, close button, progress, the task itself, and an error with a button to try
 * again. The browser makes the page behind it inert, closes it on Escape and gives the focus back.
 */
import { drawing, element, styleShadow } from '../dom/elements.ts';
import { CaptchaError, asCaptchaError } from '../token/captcha-error.ts';
import type { LocalisedWidget } from '../loading/load-messages.ts';
import { taskDialogStyle } from './task-dialog-style.ts';

/** Where the dialog opens. */
export interface DialogPlace {
  /** The dialog is in here while it is open. */
  parent: Node;
  /** The dialog opens at this box. Without one, it opens in the middle of the window. */
  box?: HTMLElement;
  /** Colours of its own. Without a theme, it inherits the colours of its parent. */
  theme?: 'light' | 'dark' | 'auto';
}

export interface TaskDialog {
  /** The honeypot goes in here. */
  readonly element: HTMLElement;
  /** Where a task is shown. It stays there until the next one replaces it. */
  readonly panel: HTMLElement;
  readonly isOpen: boolean;
  open(): void;
  close(): void;
  show(state: 'working' | 'task'): void;
  progress(done: number): void;
  translate(language: LocalisedWidget): void;
  /**
   * Runs `attempt` until it succeeds. A failure that `isShown` accepts is shown with a button to try again. Rejects with
   * another failure, and with `cancelled` when the visitor gives up.
   */
  untilDone<Value>(attempt: () => Promise<Value>, isShown: (failure: CaptchaError) => boolean): Promise<Value>;
}

/** The exports of the dialog's script, for the widget and the protect script. */
export interface DialogModule {
  /** `place` is asked each time the dialog opens. `onCancel`: the visitor closed the dialog. */
  createTaskDialog(language: LocalisedWidget, place: () => DialogPlace, onCancel: () => void): TaskDialog;
}

export function createTaskDialog(
  language: LocalisedWidget,
  place: () => DialogPlace,
  onCancel: () => void,
): TaskDialog {
  let { messages } = language;
  let isOpen = false;
  let stopFollowing: (() => void) | undefined;
  let settleRetry: ((again: boolean) => void) | undefined;

  const host = element('div', { part: 'dialog' });
  const dialog = element('dialog', {
    'aria-labelledby': 'heading',
    'aria-describedby': 'status',
  });
  const header = element('div', { class: 'head' });
  // It has the focus at first, and not the button that closes the dialog.
  const heading = element('h2', { id: 'heading', tabindex: '-1', autofocus: '' });
  const closer = element('button', { class: 'closer', type: 'button' });
  closer.append(drawing({ viewBox: '0 0 24 24' }, 'path', { d: 'M6 6l12 12M18 6 6 18' }));
  header.append(heading, closer);
  const status = element('p', { id: 'status', role: 'status' });
  const meter = element('progress', { 'aria-labelledby': 'status', max: '1', value: '0' });
  const panel = element('div');
  const retry = element('button', { class: 'retry', type: 'button' });
  dialog.append(header, status, meter, panel, retry);
  const root = host.attachShadow({ mode: 'open' });
  styleShadow(root, taskDialogStyle);
  root.append(dialog);

  closer.addEventListener('click', () => dialog.close());
  retry.addEventListener('click', () => settleRetry?.(true));
  dialog.addEventListener('close', () => {
    if (!isOpen) return;
    left();
    onCancel();
  });

  function left(): void {
    isOpen = false;
    stopFollowing?.();
    panel.replaceChildren();
    settleRetry?.(false);
    host.remove();
  }

  function show(state: 'working' | 'task' | 'error', text: string): void {
    dialog.dataset['state'] = state;
    status.textContent = text;
    // A task that waits for its result stays where it is and shows the progress itself.
    meter.hidden = state !== 'working' || panel.childElementCount > 0;
    status.classList.toggle('unseen', meter.hidden && state !== 'error');
    retry.hidden = true;
  }

  function translate(next: LocalisedWidget): void {
    ({ messages } = next);
    dialog.lang = next.tag;
    dialog.dir = next.direction;
    heading.textContent = messages.check;
    retry.textContent = messages.retry;
    closer.setAttribute('aria-label', messages.close);
    closer.title = messages.close;
  }
  translate(language);

  function open(): void {
    if (isOpen) return;
    isOpen = true;
    const { parent, box, theme } = place();
    if (theme === undefined) host.removeAttribute('data-theme');
    else host.dataset['theme'] = theme;
    dialog.dataset['place'] = box === undefined ? 'middle' : 'box';
    dialog.removeAttribute('style');
    parent.appendChild(host);
    dialog.showModal();
    stopFollowing = box === undefined ? undefined : followBox(dialog, box);
  }

  async function offerRetry({ state }: CaptchaError): Promise<boolean> {
    open();
    panel.replaceChildren();
    show('error', messages[state]);
    retry.hidden = state === 'unavailable';
    (retry.hidden ? closer : retry).focus();
    const onOnline = (): void => settleRetry?.(true);
    if (state === 'offline') addEventListener('online', onOnline);
    const again = await new Promise<boolean>((resolve) => {
      settleRetry = resolve;
    });
    removeEventListener('online', onOnline);
    settleRetry = undefined;
    return again;
  }

  return {
    element: dialog,
    panel,
    get isOpen() {
      return isOpen;
    },
    open,
    close() {
      if (!isOpen) return;
      isOpen = false;
      // Closing gives the focus back, so it comes before the dialog leaves the document.
      dialog.close();
      left();
    },
    show: (state) => show(state, state === 'working' ? messages.working : ''),
    progress(done) {
      meter.value = done;
      panel.style.setProperty('--done', done.toFixed(2));
    },
    translate,
    async untilDone(attempt, isShown) {
      for (;;) {
        try {
          return await attempt();
        } catch (error) {
          const failure = asCaptchaError(error);
          if (failure.code === 'cancelled' || !isShown(failure)) throw failure;
          if (!(await offerRetry(failure))) throw new CaptchaError('cancelled');
          meter.value = 0;
          show('working', messages.working);
        }
      }
    },
  };
}

/** To the edges of the window, and to the box. */
const MARGIN_PX = 8;
/** Each of nine pictures then has 104 pixels, as many as it is drawn with. On smaller ones people mistake shapes. */
const WIDTH_MIN_PX = 366;
/** With more, a picture is higher than many windows. */
const WIDTH_MAX_PX = 400;

/**
 * Keeps a dialog below the box that it belongs to; beside it where the window has no room below; else over it. The page's
 * own layout does not change, so nothing on it moves. Returns a function that stops.
 */
function followBox(dialog: HTMLElement, box: HTMLElement): () => void {
  const place = (): void => {
    const at = box.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const width = Math.min(Math.max(at.width, WIDTH_MIN_PX), WIDTH_MAX_PX, clientWidth - 2 * MARGIN_PX);
    const isRtl = getComputedStyle(box).direction === 'rtl';
    dialog.style.width = `${width}px`;
    const below = at.bottom + MARGIN_PX;
    const isRoomBelow = below + dialog.offsetHeight + MARGIN_PX <= clientHeight;
    const beside = isRtl ? at.left - MARGIN_PX - width : at.right + MARGIN_PX;
    const isRoomBeside = beside >= MARGIN_PX && beside + width + MARGIN_PX <= clientWidth;
    const left = !isRoomBelow && isRoomBeside ? beside : isRtl ? at.right - width : at.left;
    dialog.style.left = within(left, width, clientWidth);
    dialog.style.top = within(below, dialog.offsetHeight, clientHeight);
  };
  const sizes = new ResizeObserver(place);
  sizes.observe(dialog);
  addEventListener('scroll', place, true);
  addEventListener('resize', place);
  place();
  return () => {
    sizes.disconnect();
    removeEventListener('scroll', place, true);
    removeEventListener('resize', place);
  };
}

function within(wantedPx: number, sizePx: number, roomPx: number): string {
  return `${Math.max(MARGIN_PX, Math.min(wantedPx, roomPx - sizePx - MARGIN_PX))}px`;
}
