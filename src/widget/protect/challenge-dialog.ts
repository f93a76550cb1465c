/**
 * A challenge of a request that the page's scripts made. It is solved silently where that takes only a moment. A modal
 * dialog opens where it takes longer or the visitor must do something. When the visitor closes it, the page gets the
 * gate's response unchanged.
 */
import type { DialogModule, DialogPlace, TaskDialog } from '../dialog/task-dialog.ts';
import { loadAsset } from '../loading/asset-loader.ts';
import { loadMessages } from '../loading/load-messages.ts';
import type { ScriptLocation } from '../loading/script-location.ts';
import { CaptchaError } from '../token/captcha-error.ts';
import { createHoneypot } from '../token/honeypot.ts';
import { passChallenge } from '../token/obtain-token.ts';
import type { VisualModule } from '../visual/visual-module.ts';
import type { ChallengeOrder } from './recovery.ts';

/** Most computers have solved the challenge by then, and no dialog flashes up. */
const SILENT_MS = 900;

const inBody = (): DialogPlace => ({ parent: document.body, theme: 'auto' });

/** Resolves `true` once the edge has set the clearance. */
export async function solveInDialog(script: ScriptLocation, order: ChallengeOrder): Promise<boolean> {
  const abort = new AbortController();
  let close: (() => void) | undefined;
  try {
    const [module, language] = await Promise.all([
      loadAsset<DialogModule>(script, 'dialog'),
      loadMessages(script, document.documentElement.lang || navigator.language),
    ]);
    const dialog = module.createTaskDialog(language, inBody, () => abort.abort());
    dialog.show('working');
    const timer = setTimeout(() => dialog.open(), SILENT_MS);
    close = () => {
      clearTimeout(timer);
      dialog.close();
    };
    await dialog.untilDone(
      () => pass(script, order, abort.signal, dialog, language.tag),
      () => true,
    );
    return true;
  } catch {
    return false;
  } finally {
    close?.();
  }
}

function pass(
  script: ScriptLocation,
  { siteKey, action, level }: ChallengeOrder,
  signal: AbortSignal,
  dialog: TaskDialog,
  language: string,
): Promise<void> {
  return passChallenge({
    location: script,
    apiBase: script.base,
    siteKey,
    action,
    level,
    signal,
    onProgress: (done) => dialog.progress(done),
    async showVisual(task) {
      const visual = await loadAsset<VisualModule>(script, 'visual');
      if (signal.aborted) throw new CaptchaError('cancelled');
      dialog.open();
      dialog.show('task');
      const outcome = await visual.showVisual(dialog.panel, task, language);
      dialog.show('working');
      return outcome;
    },
    readHoneypot: createHoneypot(dialog.element),
  });
}
