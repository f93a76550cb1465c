/**
 * Picture tasks and their equivalent in sound (design 5), in a script of their own that is loaded only
 * when the service asks for one.
 */
import { provide } from './asset-loader.ts';
import { CaptchaError } from './captcha-error.ts';
import { showAudioTask } from './visual/audio-task.ts';
import { showImageTask } from './visual/image-task.ts';
import { showPuzzleTask } from './visual/puzzle-task.ts';
import { visualMessages } from './visual/visual-messages.ts';
import type { VisualModule } from './visual-module.ts';

const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['ar', 'fa', 'he']);

export const visualModule: VisualModule = {
  async showVisual(panel, task, language) {
    const messages = visualMessages(language);
    panel.lang = messages.language;
    panel.dir = RIGHT_TO_LEFT.has(messages.language) ? 'rtl' : 'ltr';
    const { audio, image, puzzle } = task.challenge;
    if (audio !== undefined) return showAudioTask(panel, task, audio, messages);
    if (image !== undefined) return showImageTask(panel, task, image, messages);
    if (puzzle !== undefined) return showPuzzleTask(panel, task, puzzle, messages);
    throw new CaptchaError('unsupported', task.challenge.kind);
  },
};

provide('visual', visualModule);
