/**
 * The challenge page's script (design 3.3): solves, has the edge verify, then sends the visitor on
 * or the held submission after him, once. All texts are in the page already, written by the edge in
 * the visitor's language; this only says which of them is shown.
 */
import { loadAsset } from './asset-loader.ts';
import { asCaptchaError, CaptchaError } from './captcha-error.ts';
import { createHoneypot } from './element/honeypot.ts';
import { cookiesWork, forgetPasses, isLooping, notePass } from './loop-guard.ts';
import { obtainToken } from './obtain-token.ts';
import { startWorker } from './pow/pow-engine.ts';
import { postJson } from './post-json.ts';
import { safeReturnTarget } from './return-target.ts';
import { scriptLocation } from './script-location.ts';
import type { VisualModule } from './visual-module.ts';

/** Names of the texts in the page: `<p data-state="…">`. */
type State = 'working' | 'done' | 'sent' | 'failed' | 'expired' | 'offline' | 'cookies';

const script = scriptLocation();

function start(root: HTMLElement): void {
  const status = root.querySelector<HTMLElement>('[role=status]')!;
  const meter = root.querySelector<HTMLProgressElement>('progress')!;
  const retry = root.querySelector<HTMLButtonElement>('button')!;
  const panel = root.querySelector<HTMLElement>('[data-visual]')!;
  const heldForm = root.querySelector<HTMLFormElement>('form');
  const { api = '/__protect', sitekey = '', action = '', returnTo = '/' } = root.dataset;
  let sent = false;

  function show(state: State): void {
    const text = root.querySelector(`template[data-state=${state}]`) as HTMLTemplateElement;
    status.textContent = text.content.textContent;
    status.dataset['state'] = state;
    const busy = state === 'working' || state === 'done';
    meter.hidden = !busy;
    retry.hidden = busy || state === 'sent';
  }

  async function pass(): Promise<void> {
    show('working');
    meter.value = 0;
    const abort = new AbortController();
    try {
      const { token } = await obtainToken({
        location: script,
        startEngine: startWorker,
        apiBase: api,
        siteKey: sitekey,
        action,
        signal: abort.signal,
        onProgress(done) {
          meter.value = done;
        },
        async showVisual(task) {
          const visual = await loadAsset<VisualModule>(script, 'visual');
          meter.hidden = true;
          status.textContent = '';
          return visual.showVisual(panel, task, document.documentElement.lang);
        },
        readHoneypot: createHoneypot(root),
      });
      const answer = (await postJson(`${api}/verify`, { token }, abort.signal)) as { verified?: boolean };
      if (answer.verified !== true) throw new CaptchaError('failed', 'verify');
      notePass(Date.now());
      goOn();
    } catch (error) {
      const { code } = asCaptchaError(error);
      show(code === 'network' || code === 'server' ? 'offline' : code === 'expired' ? 'expired' : 'failed');
      retry.focus();
    }
  }

  function goOn(): void {
    show('done');
    if (heldForm !== null) {
      sent = true;
      heldForm.submit();
      return;
    }
    const target = safeReturnTarget(returnTo, location.origin);
    // A reload keeps the fragment and the Referer of the visitor's own navigation.
    if (target === location.pathname + location.search) location.reload();
    else location.replace(target);
  }

  retry.addEventListener('click', () => {
    forgetPasses();
    void (cookiesWork() ? pass() : show('cookies'));
  });
  // Back to this page out of the browser's memory: a held submission never leaves twice.
  window.addEventListener('pageshow', (event) => {
    if (!event.persisted) return;
    if (sent) show('sent');
    else location.reload();
  });
  if (!cookiesWork() || isLooping(Date.now())) show('cookies');
  else void pass();
}

const root = document.getElementById('gatehouse');
if (root !== null) start(root);
