/**
 * Picture tasks and the audio task that replaces them, in a script of their own. It is loaded only when the service
 * asks for such a task.
 */
import { localised, tagsFor } from '../locales/language.ts';
import { expandRows } from '../locales/rows.ts';
import { taskRows } from '../locales/tasks.generated.ts';
import { provide } from './loading/asset-loader.ts';
import { CaptchaError } from './token/captcha-error.ts';
import { showAudioTask } from './visual/audio-task.ts';
import { showImageTask } from './visual/image-task.ts';
import { showPuzzleTask } from './visual/puzzle-task.ts';
import type { VisualModule } from './visual/visual-module.ts';

const languages = expandRows(taskRows);

export const visualModule: VisualModule = {
  async showVisual(panel, task, language) {
    const { tag, direction, messages } = localised(tagsFor(language), languages);
    panel.lang = tag;
    panel.dir = direction;
    const { audio, image, puzzle } = task.challenge;
    if (audio !== undefined) return showAudioTask(panel, task, audio, messages);
    if (image !== undefined) return showImageTask(panel, task, image, messages);
    if (puzzle !== undefined) return showPuzzleTask(panel, task, puzzle, messages);
    throw new CaptchaError('unsupported', task.challenge.kind);
  },
};

provide('visual', visualModule);
