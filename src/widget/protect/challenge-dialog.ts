/**
 * A challenge in the middle of a page (design 3.3), for requests of its scripts. Solved in silence
 * where that takes a moment only; a modal dialog where it takes longer or the visitor must do
 * something. Closing it gives the page the gate's answer as it was.
 */
import { styleShadow } from '../element/shadow-style.ts';
import { loadAsset } from '../asset-loader.ts';
import { asCaptchaError, CaptchaError } from '../captcha-error.ts';
import { createHoneypot } from '../element/honeypot.ts';
import { obtainToken } from '../obtain-token.ts';
import { startWorker } from '../pow/pow-engine.ts';
import { postJson } from '../post-json.ts';
import type { ChallengeOrder } from './recovery.ts';
import type { ScriptLocation } from '../script-location.ts';
import type { VisualModule } from '../visual-module.ts';
import { loadMessages, type LocalisedWidget, type MessageKey } from '../load-messages.ts';

/** A desktop has solved by then; a dialog that flashes up and goes is worse than none. */
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
        await passOnce(script, order, abort.signal, dialog, language.tag);
        return true;
      } catch (error) {
        const { code } = asCaptchaError(error);
        if (code === 'cancelled') return false;
        if (!(await dialog.offerRetry(code === 'network' || code === 'server' ? 'offline' : 'failed'))) return false;
      }
    }
  } finally {
    clearTimeout(timer);
    dialog.close();
  }
}

async function passOnce(
  script: ScriptLocation,
  order: ChallengeOrder,
  signal: AbortSignal,
  dialog: ChallengeDialog,
  language: string,
): Promise<void> {
  const { token } = await obtainToken({
    location: script,
    startEngine: startWorker,
    apiBase: script.base,
    siteKey: order.siteKey,
    action: order.action,
    signal,
    onProgress: (done) => dialog.progress(done),
    async showVisual(task) {
      const visual = await loadAsset<VisualModule>(script, 'visual');
      dialog.open();
      dialog.say('task');
      return visual.showVisual(dialog.panel, task, language);
    },
    readHoneypot: createHoneypot(dialog.panel),
  });
  const answer = (await postJson(`${script.base}/verify`, { token }, signal)) as { verified?: boolean };
  if (answer.verified !== true) throw new CaptchaError('failed', 'verify');
}

interface ChallengeDialog {
  panel: HTMLElement;
  open(): void;
  close(): void;
  progress(done: number): void;
  say(text: MessageKey): void;
  offerRetry(text: MessageKey): Promise<boolean>;
}

function createDialog({ tag, direction, messages }: LocalisedWidget, abort: AbortController): ChallengeDialog {
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  styleShadow(root, style);
  const dialog = document.createElement('dialog');
  const text = document.createElement('p');
  const meter = document.createElement('progress');
  const panel = document.createElement('div');
  const retry = document.createElement('button');
  const close = document.createElement('button');
  text.id = 'text';
  text.setAttribute('role', 'status');
  dialog.setAttribute('aria-labelledby', 'text');
  dialog.lang = tag;
  dialog.dir = direction;
  retry.textContent = messages.retry;
  retry.hidden = true;
  close.textContent = messages.close;
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => abort.abort());
  dialog.append(text, meter, panel, retry, close);
  root.append(dialog);

  const say = (key: MessageKey): void => {
    text.textContent = messages[key];
    meter.hidden = key !== 'working';
  };
  say('working');
  return {
    panel,
    say,
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
      say(key);
      retry.hidden = false;
      retry.focus();
      const again = await new Promise<boolean>((resolve) => {
        retry.addEventListener('click', () => resolve(true), { once: true });
        abort.signal.addEventListener('abort', () => resolve(false));
      });
      retry.hidden = true;
      say('working');
      return again;
    },
  };
}
