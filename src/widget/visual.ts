/**
 * Picture tasks and their equivalent in sound (design 5), in a script of their own that is loaded only
 * when the service asks for one.
 */
import { tagsFor } from '../locales/language.ts';
import { localisedRow } from '../locales/rows.ts';
import { englishTasks, taskRows } from '../locales/tasks.generated.ts';
import { provide } from './asset-loader.ts';
import { CaptchaError } from './captcha-error.ts';
import { showAudioTask } from './visual/audio-task.ts';
import { showImageTask } from './visual/image-task.ts';
import { showPuzzleTask } from './visual/puzzle-task.ts';
import type { VisualModule } from './visual-module.ts';

export const visualModule: VisualModule = {
  async showVisual(panel, task, language) {
    const { tag, direction, messages } = localisedRow(tagsFor(language), englishTasks, taskRows);
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
