/**
 * A challenge of a request that the page's scripts made. It is solved silently where that takes only a moment. A modal
 * dialog opens where it takes longer or the visitor must do something. When the visitor closes it, the page gets the
 * gate's response unchanged.
 */
import { element } from '../dom/create-element.ts';
import { styleShadow } from '../dom/shadow-style.ts';
import { loadAsset } from '../loading/asset-loader.ts';
import { loadMessages, type LocalisedWidget, type MessageKey } from '../loading/load-messages.ts';
import type { ScriptLocation } from '../loading/script-location.ts';
import { startWorker } from '../pow/pow-engine.ts';
import { asCaptchaError } from '../token/captcha-error.ts';
import { createHoneypot } from '../token/honeypot.ts';
import { passChallenge } from '../token/pass-challenge.ts';
import type { VisualModule } from '../visual/visual-module.ts';
import type { ChallengeOrder } from './recovery.ts';

/** Most computers have solved the challenge by then, and no dialog flashes up. */
const SILENT_MS = 900;

const style = `
dialog{font:17px/1.5 system-ui,sans-serif;max-width:26rem;padding:24px;border:1px solid #6b7685;border-radius:12px;background:#fff;color:#1c2430;color-scheme:light dark}
dialog::backdrop{background:#0008}
p{margin:0 0 12px;font-weight:600}progress{width:100%;accent-color:#1a56c4}
button{font:inherit;min-height:44px;padding:8px 18px;margin:16px 8px 0 0;border-radius:8px;border:1px solid currentColor;background:none;color:inherit;cursor:pointer}
button:focus-visible{outline:3px solid;outline-offset:2px}
@media(prefers-color-scheme:dark){dialog{background:#1d2330;color:#eef1f5;border-color:#97a1b0}}`;

/** Resolves `true` once the edge has set the clearance. */
export async function solveInDialog(script: ScriptLocation, order: ChallengeOrder): Promise<boolean> {
  const abort = new AbortController();
  const language = await loadMessages(script, document.documentElement.lang || navigator.language);
  const dialog = createDialog(language, abort);
  const timer = setTimeout(() => dialog.open(), SILENT_MS);
  try {
    for (;;) {
      try {
        await pass(script, order, abort.signal, dialog, language.tag);
        return true;
      } catch (error) {
        const { code, state } = asCaptchaError(error);
        if (code === 'cancelled') return false;
        if (!(await dialog.offerRetry(state))) return false;
      }
    }
  } finally {
    clearTimeout(timer);
    dialog.close();
  }
}

function pass(
  script: ScriptLocation,
  { siteKey, action }: ChallengeOrder,
  signal: AbortSignal,
  dialog: ChallengeDialog,
  language: string,
): Promise<void> {
  return passChallenge({
    location: script,
    startEngine: startWorker,
    apiBase: script.base,
    siteKey,
    action,
    signal,
    onProgress: (done) => dialog.progress(done),
    async showVisual(task) {
      const visual = await loadAsset<VisualModule>(script, 'visual');
      dialog.open();
      dialog.show('task');
      return visual.showVisual(dialog.panel, task, language);
    },
    readHoneypot: createHoneypot(dialog.panel),
  });
}

interface ChallengeDialog {
  panel: HTMLElement;
  open(): void;
  close(): void;
  progress(done: number): void;
  show(text: MessageKey): void;
  /** Resolves `false` when the visitor closes the dialog instead. */
  offerRetry(text: MessageKey): Promise<boolean>;
}

function createDialog({ tag, direction, messages }: LocalisedWidget, abort: AbortController): ChallengeDialog {
  const host = element('div');
  const root = host.attachShadow({ mode: 'open' });
  styleShadow(root, style);
  const dialog = element('dialog', { 'aria-labelledby': 'text', lang: tag, dir: direction });
  const text = element('p', { id: 'text', role: 'status' });
  const meter = element('progress');
  const panel = element('div');
  const retry = element('button', {}, messages.retry);
  const close = element('button', {}, messages.close);
  retry.hidden = true;
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => abort.abort());
  dialog.append(text, meter, panel, retry, close);
  root.append(dialog);

  const show = (key: MessageKey): void => {
    text.textContent = messages[key];
    meter.hidden = key !== 'working';
  };
  show('working');
  return {
    panel,
    show,
    open() {
      if (dialog.open || abort.signal.aborted) return;
      document.body.append(host);
      dialog.showModal();
    },
    close() {
      host.remove();
    },
    progress(done) {
      meter.value = done;
    },
    async offerRetry(key) {
      this.open();
      show(key);
      retry.hidden = false;
      retry.focus();
      const again = await new Promise<boolean>((resolve) => {
        retry.addEventListener('click', () => resolve(true), { once: true });
        abort.signal.addEventListener('abort', () => resolve(false));
      });
      retry.hidden = true;
      show('working');
      return again;
    },
  };
}
